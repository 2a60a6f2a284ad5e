/** Objects that every cluster has are created, and created again after a client deletes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { startVerbs } from '#verbs/fixture.suite.ts'
import { localClient } from '#verbs/local-client.ts'
import { ensureSystemObjects, maintainSystemObjects, type ServerPlace } from './system-objects.ts'

const administrator = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }

const slices = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' }
const services = { group: '', version: 'v1', plural: 'services' }

const kept: [group: string, version: string, plural: string, namespace: string, name: string][] = [
  ['', 'v1', 'namespaces', '', 'kube-public'],
  ['', 'v1', 'services', 'default', 'kubernetes'],
  ['', 'v1', 'endpoints', 'default', 'kubernetes'],
  ['discovery.k8s.io', 'v1', 'endpointslices', 'default', 'kubernetes'],
]

const placeAt = (address: string): ServerPlace => ({
  release: 22,
  address,
  port: 6443,
  alive: async () => [address],
  serviceAddress: '10.0.0.1',
  nodePort: 0,
  report: (message, error) => assert.fail(`${message}: ${error}`),
})

test('an address of another family makes another slice', async () => {
  const verbs = await startVerbs()
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  for (const address of ['192.0.2.1', '2001:db8::1', '192.0.2.1']) {
    await ensureSystemObjects(client, placeAt(address))
    const { addressType, endpoints } = await client.get(slices, 'default', 'kubernetes')
    assert.deepEqual(
      [addressType, endpoints?.[0].addresses],
      [address.includes(':') ? 'IPv6' : 'IPv4', [address]],
    )
  }
  await verbs.stop()
})

test('a server that serves no slices starts all the same', async () => {
  const verbs = await startVerbs()
  const { catalog } = verbs.server
  const resource = catalog.resource(slices.group, slices.plural)
  assert.ok(resource)
  catalog.remove(resource)
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  await ensureSystemObjects(client, placeAt('192.0.2.1'))
  await verbs.stop()
})

test('what is deleted comes back', async () => {
  const verbs = await startVerbs()
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  const place = placeAt('192.0.2.1')
  const looking = maintainSystemObjects(client, place, 5)
  for (const [group, version, plural, namespace, name] of kept) {
    const ref = { group, version, plural }
    const found = () => client.get(ref, namespace, name).catch(() => undefined)
    const first = await until(`${plural} ${name} to be there`, found)
    if (plural === 'namespaces') continue
    await client.delete(ref, namespace, name)
    const second = await until(`${plural} ${name} to be there again`, found)
    assert.notEqual(second.metadata.uid, first.metadata.uid)
  }
  const { metadata, spec } = await client.get(services, 'default', 'kubernetes')
  assert.equal(spec?.ipFamilyPolicy, 'SingleStack')
  const [owned] = metadata.managedFields ?? []
  assert.ok(owned.fieldsV1?.['f:spec']?.['f:ipFamilyPolicy'], 'it is asked for')
  looking.stop()
  await verbs.stop()
})
