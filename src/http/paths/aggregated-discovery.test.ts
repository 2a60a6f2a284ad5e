/** Aggregated discovery over HTTP: which requests get it, in which form, and when 304 is sent. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { aggregatedVersions, type VersionDiscovery } from '#discovery/aggregated.ts'
import { type Served, startServed } from '#http/served.fixture.ts'
import { loadFacts } from '#kinds/facts.ts'
import { AggregatedDiscovery } from './aggregated-discovery.ts'
import { discoveryPaths } from './discovery.ts'

const facts = loadFacts((name) =>
  readFileSync(new URL(`../../../facts/${name}`, import.meta.url), 'utf8'),
)
const remote = { group: 'metrics.k8s.io', version: 'v1beta1' }
const stale: VersionDiscovery = { version: remote.version, freshness: 'Stale' }
const remotes = {
  generation: 0,
  refresh: async () => {},
  of: (group: string) => (group === remote.group ? stale : undefined),
}

async function servedAs(release: number): Promise<Served> {
  const served = await startServed({ release })
  const { catalog, feature } = served.verbs.server
  const common = { catalog, release, priorityOf: () => ({ group: 0, version: 0 }) }
  const whole = new AggregatedDiscovery({
    ...common,
    listTypeOf: (version) =>
      facts.typeOf(`io.k8s.api.apidiscovery.${version}.APIGroupDiscoveryList`, release),
    groupVersions: (local) => [...local, remote],
    remotes,
  })
  const paths = discoveryPaths({
    ...common,
    serverAddress: '127.0.0.1:6443',
    typeOf: (kind) => facts.typeOf(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`, release),
    whole: { versions: aggregatedVersions(release, feature), load: () => whole },
  })
  return { ...served, parts: { ...served.parts, paths: [paths] } }
}

let older: Served
let newest: Served
before(async () => {
  older = await servedAs(32)
  newest = await servedAs(37)
})
after(() => Promise.all([older.stop(), newest.stop()]))

const get = ({ ask, parts }: Served, path: string, headers: object) =>
  ask('GET', path, { headers: { ...headers } }, parts)
const v2 = ';g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const v2beta1 = ';g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
const plain = 'application/json'
const protobuf = 'application/vnd.kubernetes.protobuf'

for (const [accept, release, path, type] of [
  [`${plain}${v2}`, 37, '/apis', `${plain}${v2}`],
  [`${plain}${v2}`, 37, '/api', `${plain}${v2}`],
  [`${plain}${v2};profile=nopeer`, 37, '/apis', `${plain}${v2}`],
  [`${protobuf}${v2}`, 37, '/apis', `${protobuf}${v2}`],
  [`${plain}${v2},${plain}`, 37, '/apis', `${plain}${v2}`],
  [`${plain};q=0.9,${plain}${v2};q=0.8`, 37, '/apis', plain],
  [`${plain}${v2beta1},${plain}`, 32, '/apis', `${plain}${v2beta1}`],
  [`${plain}${v2beta1},${plain}`, 37, '/apis', plain],
  [`${plain}${v2beta1}`, 37, '/apis', undefined],
  [`${plain}${v2}`, 37, '/apis/apps', undefined],
] as const) {
  test(`${path} of 1.${release} for "${accept}" is ${type ?? 'not acceptable'}`, async () => {
    const answer = await get(release === 32 ? older : newest, path, { accept })
    assert.equal(answer.status, type === undefined ? 406 : 200)
    if (type !== undefined) assert.equal(answer.headers['content-type'], type)
  })
}

test('the document contains the groups of this server and of aggregated servers', async () => {
  const { json } = await get(newest, '/apis', { accept: `${plain}${v2}` })
  assert.equal(json.apiVersion, 'apidiscovery.k8s.io/v2')
  const named = new Map(
    json.items.map(
      ({ metadata, versions }: { metadata: { name: string }; versions: unknown[] }) => [
        metadata.name,
        versions,
      ],
    ),
  )
  assert.ok(named.has('apps'))
  assert.deepEqual(named.get(remote.group), [stale])
})

test('the core group has no name', async () => {
  const { json } = await get(newest, '/api', { accept: `${plain}${v2}` })
  assert.deepEqual(json.items[0].metadata, {})
  assert.equal(json.items[0].versions[0].version, 'v1')
})

test('a client with the current ETag gets 304 until the document changes', async () => {
  const first = await get(newest, '/apis', { accept: `${plain}${v2}` })
  const { etag, vary, 'cache-control': caching } = first.headers
  assert.match(String(etag), /^"[0-9A-F]{128}"$/)
  assert.deepEqual([vary, caching], ['Accept', 'public'])
  const known = { accept: `${plain}${v2}`, 'if-none-match': String(etag) }
  const again = await get(newest, '/apis', known)
  assert.equal(again.status, 304)
  assert.equal(again.body.length, 0)
  remotes.generation++
  remotes.of = () => undefined
  assert.equal((await get(newest, '/apis', known)).status, 200)
})
