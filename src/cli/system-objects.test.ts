/** What every cluster has is made, and made anew when somebody deletes it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { startVerbs } from '#verbs/fixture.suite.ts'
import { localClient } from '#verbs/local-client.ts'
import { lookAfterSystemObjects, type ServerPlace } from './system-objects.ts'

const administrator = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }

const services = { group: '', version: 'v1', plural: 'services' }

const kept: [group: string, version: string, plural: string, namespace: string, name: string][] = [
  ['', 'v1', 'namespaces', '', 'kube-public'],
  ['', 'v1', 'services', 'default', 'kubernetes'],
  ['', 'v1', 'endpoints', 'default', 'kubernetes'],
  ['discovery.k8s.io', 'v1', 'endpointslices', 'default', 'kubernetes'],
]

test('what is deleted comes back', async () => {
  const verbs = await startVerbs()
  const client = localClient(verbs.server, administrator, 'kube-apiserver')
  const place: ServerPlace = {
    release: 22,
    address: '192.0.2.1',
    port: 6443,
    alive: async () => ['192.0.2.1'],
    serviceAddress: '10.0.0.1',
    nodePort: 0,
    report: (message, error) => assert.fail(`${message}: ${error}`),
  }
  const looking = lookAfterSystemObjects(client, place, 5)
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
