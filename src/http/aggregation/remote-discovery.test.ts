/**
 * The resources that other servers report: fetched once a minute, in one document or in one for
 * each group version.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { counterpart, type Counterpart } from '#access/counterpart.suite.ts'
import { until } from '#base/until.fixture.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { RemoteDiscovery } from './remote-discovery.ts'

let server: Counterpart
let now = 0
/** The server's responses by path. */
let stated: Record<string, { body: object; headers?: Record<string, string> }> = {}
const requested: string[] = []

before(async () => {
  server = await counterpart(({ path }) => {
    requested.push(path)
    return stated[path] ?? { status: 404, body: 'x' }
  })
})
after(() => server.stop())
beforeEach(() => {
  stated = {}
  requested.length = 0
})

function discoveryOf(...keys: string[]) {
  const service = { namespace: 'a', name: 'b', port: 443 }
  const remotes = new Map(
    keys.map((key) => [key, { name: key, available: true, service } as Remote]),
  )
  const aggregation = {
    remotes: () => remotes,
    remoteOf: (group: string, version: string) => remotes.get(`${group}/${version}`),
    backendOf: async () => ({
      secure: true,
      host: 'localhost',
      port: Number(new URL(server.url).port),
      trust: { insecure: false, ca: server.authority.pem },
    }),
  } as unknown as Aggregation
  return new RemoteDiscovery(aggregation, () => now)
}

const pods = {
  name: 'pods',
  singularName: '',
  namespaced: true,
  kind: 'PodMetrics',
  verbs: ['get'],
}
const legacy = (resources: object[]) => ({ body: { kind: 'APIResourceList', resources } })
const shownPods = {
  resource: 'pods',
  responseKind: { group: '', version: '', kind: 'PodMetrics' },
  scope: 'Namespaced',
  singularResource: '',
  verbs: ['get'],
}

test('a server without aggregated discovery gets one request per group version', async () => {
  stated['/apis/m/v1'] = legacy([pods])
  const discovery = discoveryOf('m/v1')
  await discovery.refresh()
  assert.deepEqual(discovery.of('m', 'v1'), {
    version: 'v1',
    resources: [shownPods],
    freshness: 'Current',
  })
  assert.deepEqual(requested, ['/apis', '/apis/m/v1'])
  assert.equal(discovery.of('apps', 'v1'), undefined)
})

test('one document contains all group versions', async () => {
  const resources = [{ ...shownPods, verbs: ['list'] }]
  stated['/apis'] = {
    headers: {
      'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    },
    body: { items: [{ metadata: { name: 'm' }, versions: [{ version: 'v1', resources }] }] },
  }
  const discovery = discoveryOf('m/v1', 'm/v2')
  await discovery.refresh()
  assert.deepEqual(discovery.of('m', 'v1'), { version: 'v1', resources, freshness: 'Current' })
  assert.deepEqual(discovery.of('m', 'v2'), { version: 'v2', freshness: 'Current' })
})

test('a result is valid for a minute, and stale if its server becomes unavailable', async () => {
  stated['/apis/m/v1'] = legacy([pods])
  const discovery = discoveryOf('m/v1')
  await discovery.refresh()
  const { generation } = discovery
  requested.length = 0
  now += 59_000
  await discovery.refresh()
  assert.deepEqual(requested, [])
  stated = {}
  now += 2000
  await discovery.refresh()
  await until('the new answer', async () => discovery.generation > generation)
  assert.equal(discovery.of('m', 'v1')?.freshness, 'Stale')
  assert.deepEqual(discovery.of('m', 'v1')?.resources, [shownPods])
})

test('a server that was never available has no resources', async () => {
  const discovery = discoveryOf('m/v1')
  await discovery.refresh()
  assert.deepEqual(discovery.of('m', 'v1'), { version: 'v1', freshness: 'Stale' })
})
