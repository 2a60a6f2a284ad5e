import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { core, startCluster } from '#controllers/cluster.suite.ts'
import { bootstrapSigner, signedData, tokensOf } from './bootstrap-signer.ts'

const secret = (id: string, fields: Record<string, string> = {}, name?: string): KubeObject => ({
  metadata: { name: name ?? `bootstrap-token-${id}`, namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries({
      'token-id': id,
      'token-secret': `secret-of-${id}`,
      'usage-bootstrap-signing': 'true',
      ...fields,
    }).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
})

const now = Date.parse('2030-01-01T00:00:00Z')
const tokenCases: [what: string, secret: KubeObject, signs: boolean][] = [
  ['one that is right', secret('abcdef'), true],
  ['one that ends later', secret('abcdef', { expiration: '2030-01-01T00:00:01Z' }), true],
  ['one that has ended', secret('abcdef', { expiration: '2030-01-01T00:00:00Z' }), false],
  ['one that ends at no time', secret('abcdef', { expiration: 'soon' }), false],
  ['one that ends on a day', secret('abcdef', { expiration: '2031-01-01' }), false],
  ['one that ends on no day', secret('abcdef', { expiration: '2031-02-30T00:00:00Z' }), false],
  ['one that may not sign', secret('abcdef', { 'usage-bootstrap-signing': 'false' }), false],
  ['one without a secret', secret('abcdef', { 'token-secret': '' }), false],
  ['one of another name', secret('abcdef', {}, 'bootstrap-token-fedcba'), false],
]
for (const [what, one, signs] of tokenCases) {
  test(`a token that signs: ${what}`, () => {
    assert.deepEqual([...tokensOf([one], now)], signs ? [['abcdef', 'secret-of-abcdef']] : [])
  })
}

test('signatures are put right, and what is right is left alone', () => {
  const tokens = new Map([['abcdef', 's']])
  const signed = signedData({ kubeconfig: 'k', other: 'o', 'jws-kubeconfig-old': 'x' }, tokens)
  assert.ok(signed)
  assert.deepEqual(Object.keys(signed), ['kubeconfig', 'other', 'jws-kubeconfig-abcdef'])
  const [header = '', payload, signature] = signed['jws-kubeconfig-abcdef']?.split('.') ?? []
  assert.equal(Buffer.from(header, 'base64url').toString(), '{"alg":"HS256","kid":"abcdef"}')
  assert.equal(payload, '')
  const expected = createHmac('sha256', 's').update(`${header}.aw`).digest('base64url')
  assert.equal(signature, expected)
  assert.equal(signedData(signed, tokens), undefined)
  assert.equal(signedData({ other: 'o' }, tokens), undefined)
})

test('cluster-info follows the tokens', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(bootstrapSigner)
    const maps = core('configmaps')
    await client.create(core('namespaces'), '', { metadata: { name: 'kube-public' } })
    await client.create(core('secrets'), 'kube-system', secret('abcdef'))
    await client.create(maps, 'kube-public', {
      metadata: { name: 'cluster-info', namespace: 'kube-public' },
      data: { kubeconfig: 'k' },
    })
    const keys = async () =>
      Object.keys((await client.get(maps, 'kube-public', 'cluster-info')).data).join()
    await until('a signature', async () => (await keys()) === 'jws-kubeconfig-abcdef,kubeconfig')
    await client.create(core('secrets'), 'kube-system', secret('fedcba'))
    await until('another', async () => /abcdef,jws-kubeconfig-fedcba/.test(await keys()))
    await client.delete(core('secrets'), 'kube-system', 'bootstrap-token-abcdef')
    await until('the first is gone', async () => !/abcdef/.test(await keys()))
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})
