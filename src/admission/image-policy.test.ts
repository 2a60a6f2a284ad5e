import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { imagePolicyWebhook } from './image-policy.ts'
import { outcome, pod, podKind, requestOf } from './requests.suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'images-'))
const kubeConfigFile = join(folder, 'kubeconfig')
const reviews: Loose[] = []
let clock = 0

/** Decides by the name of the first image. */
const service = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { spec, ...review } = JSON.parse(body)
  reviews.push(spec)
  const image: string = spec.containers[0].image
  response.statusCode = image === 'broken' ? 400 : 200
  const status = {
    allowed: image === 'good',
    ...(image === 'bad' && { reason: 'it is bad' }),
    auditAnnotations: { seen: 'yes' },
  }
  response.end(JSON.stringify({ ...review, status }))
})

before(async () => {
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done))
  const { port } = service.address() as AddressInfo
  const server = `http://127.0.0.1:${port}/policy`
  writeFileSync(
    kubeConfigFile,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )
})
after(() => {
  service.close()
  service.closeAllConnections()
  rmSync(folder, { recursive: true })
})

const pluginWith = (settings: Loose = {}) =>
  imagePolicyWebhook({ imagePolicy: { kubeConfigFile, retryBackoff: 1, ...settings } }, () => clock)
const asking = (image: string) =>
  requestOf(
    'CREATE',
    podKind,
    pod(
      { containers: [{ name: 'c', image }], initContainers: [{ name: 'i', image: 'first' }] },
      { annotations: { 'x.image-policy.k8s.io/ticket': '1', other: '2' } },
    ),
  )

test('the service decides', async () => {
  const plugin = await pluginWith()
  const refused = '403 pods "p" is forbidden: '
  for (const [image, expected] of [
    ['good', 'admitted'],
    ['bad', `${refused}image policy webhook backend denied one or more images: it is bad`],
    ['mute', `${refused}one or more images rejected by webhook backend`],
    ['broken', `${refused}the server rejected our request for an unknown reason`],
  ] as const) {
    const request = asking(image)
    assert.equal(await outcome(plugin, request, new MemoryReader()), expected)
    const audited = request.auditAnnotations.get('imagepolicywebhook.image-policy.k8s.io/seen')
    assert.equal(audited, image === 'broken' ? undefined : 'yes')
  }
  assert.deepEqual(reviews[0], {
    containers: [{ image: 'good' }, { image: 'first' }],
    annotations: { 'x.image-policy.k8s.io/ticket': '1' },
    namespace: 'ns',
  })
})

test('responses are cached as long as the configuration says', async () => {
  const plugin = await pluginWith({ allowTTL: 10, denyTTL: -1 })
  const count = async (image: string) => {
    const before = reviews.length
    await outcome(plugin, asking(image), new MemoryReader())
    return reviews.length - before
  }
  assert.deepEqual([await count('good'), await count('good')], [1, 0])
  clock += 10_000
  assert.equal(await count('good'), 1)
  assert.deepEqual([await count('bad'), await count('bad')], [1, 1])
})

test('if the service fails, the configuration may allow the pod with an annotation', async () => {
  const plugin = await pluginWith({ defaultAllow: true })
  const request = asking('broken')
  assert.equal(await outcome(plugin, request, new MemoryReader()), 'admitted')
  const { annotations } = request.object?.metadata ?? {}
  assert.equal(annotations?.['alpha.image-policy.k8s.io/failed-open'], 'true')
  assert.equal(
    request.auditAnnotations.get('imagepolicywebhook.image-policy.k8s.io/failed-open'),
    'true',
  )
})

test('invalid configurations', async () => {
  await assert.rejects(
    imagePolicyWebhook(undefined, () => 0),
    /no config specified/,
  )
  for (const [settings, why] of [
    [{ allowTTL: 1801 }, /valid value is between 1s and 30m0s, got 30m1s/],
    [{ denyTTL: -2 }, /valid value is between 1s and 30m0s, got -2s/],
    [{ retryBackoff: 300_001 }, /valid value is between 1ns and 5m0s, got 5m0.001s/],
    [{ kubeConfigFile: join(folder, 'none') }, /invalid configuration in .*none/],
  ] as const)
    await assert.rejects(pluginWith(settings), why)
})
