/**
 * Servers on one store: any live server repairs the endpoints of the service, and a server that
 * left does not.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import type { Storage } from '#storage/storage.ts'
import { startVerbs } from '#verbs/fixture.suite.ts'
import { localClient } from '#verbs/local-client.ts'
import { Membership } from './membership.ts'
import { ServerLeases } from './server-leases.ts'
import { writeKubernetesEndpoints } from './system-objects.ts'

const administrator = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }
const endpoints = { group: '', version: 'v1', plural: 'endpoints' }
const slices = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' }
const own = '192.0.2.1'
const other = '192.0.2.2'
const root = '/registry'
const parse = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString())
/** This server, which says on the store that it is alive. */
const ownPlace = {
  parse,
  root,
  address: own,
  port: 6443,
  release: 22,
  reconciler: 'lease',
  count: 1,
} as const
/** As often as a server says that it is alive. */
const intervalMs = 10_000

/** Two known servers, one of them this. `list` may keep the store from answering. */
async function startTwo(list = (storage: Storage): Storage['list'] => storage.list.bind(storage)) {
  const verbs = await startVerbs()
  const { storage } = verbs
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  await verbs.create('namespaces', { metadata: { name: 'default' } })
  await new ServerLeases({ storage, parse, root, address: other }).renew()
  const membership = new Membership({
    storage: {
      get: storage.get.bind(storage),
      put: storage.put.bind(storage),
      delete: storage.delete.bind(storage),
      list: list(storage),
    },
    ...ownPlace,
    report: (message, error) => assert.fail(`${message}: ${error}`),
  })
  await writeKubernetesEndpoints(client, { address: own, port: 6443, release: 22 }, [own, other])
  membership.start(client, { repair: async () => {} })
  const reported = async () => {
    const { subsets } = await client.get(endpoints, 'default', 'kubernetes')
    return subsets?.[0].addresses.map(({ ip }: { ip: string }) => ip)
  }
  return { verbs, client, membership, reported }
}

test('the endpoints of the service are written again after a client deletes them', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { verbs, client, membership } = await startTwo()
  for (const ref of [endpoints, slices]) {
    await client.delete(ref, 'default', 'kubernetes')
    t.mock.timers.tick(intervalMs)
    await until(`${ref.plural} to be there again`, () =>
      client.get(ref, 'default', 'kubernetes').catch(() => undefined),
    )
    await membership.leave()
    membership.start(client, { repair: async () => {} })
  }
  await membership.leave()
  await verbs.stop()
})

test('a server that leaves while it says that it is alive has left', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const [requested, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let looks = 0
  const { verbs, membership, reported } = await startTwo((storage) => async (...range) => {
    const answer = await storage.list(...range)
    if (looks++ === 0) {
      requested.resolve()
      await answered.promise
    }
    return answer
  })
  t.mock.timers.tick(intervalMs)
  await requested.promise
  const left = membership.leave()
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  answered.resolve()
  await left
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  assert.deepEqual(await reported(), [other])
  await verbs.stop()
})

test('a server starts although what another says of itself cannot be read', async () => {
  const verbs = await startVerbs()
  const { storage } = verbs
  await storage.put(`${root}/masterleases/${other}`, Buffer.from('no lease'), { ifRevision: 0 })
  const reports: string[] = []
  const membership = new Membership({
    storage,
    ...ownPlace,
    report(message, error) {
      reports.push(`${message}: ${(error as Error).name}`)
    },
  })
  assert.deepEqual(await membership.alive(), [])
  assert.deepEqual(reports, [
    'the endpoints of the API could not be written; the server tries again: SyntaxError',
  ])
  await verbs.stop()
})
