import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { type Cluster, core, startCluster } from '#controllers/cluster.suite.ts'
import { endpointSlices, endpoints, nodes, pods, services } from '#controllers/resources.ts'
import { endpointController } from './endpoint.ts'
import { endpointSliceController } from './endpointslice.ts'
import { endpointSliceMirroring } from './endpointslicemirroring.ts'

const labels = { app: 'web' }
const metadata = { name: 'web', namespace: 'default' }
const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }]

async function withCluster(check: (cluster: Cluster) => Promise<void>) {
  const cluster = await startCluster({ release: 37 })
  try {
    cluster.run(endpointController, endpointSliceController, endpointSliceMirroring)
    await check(cluster)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
}
const slices = async (client: ApiClient): Promise<KubeObject[]> =>
  (await client.list(endpointSlices, 'default')).items
const addresses = async (client: ApiClient): Promise<string> =>
  (await slices(client))
    .flatMap((slice) => slice.endpoints ?? [])
    .map((endpoint: Loose) => endpoint.addresses[0])
    .sort()
    .join()
const subsets = async (client: ApiClient): Promise<Loose[]> =>
  (await client.get(endpoints, 'default', 'web')).subsets ?? []
const address = { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'], ipFamilies: ['IPv4'] }
const isGone = (client: ApiClient) =>
  client.get(endpoints, 'default', 'web').then(
    () => false,
    () => true,
  )
const service = (selector?: Loose): KubeObject => ({
  metadata,
  spec: { ...(selector && { selector }), ports, ...address },
})

test('a service with a selector has Endpoints and slices of its pods', () =>
  withCluster(async ({ client }) => {
    await client.create(nodes, '', { metadata: { name: 'n' } })
    await client.create(services, 'default', service(labels))
    await until('a placeholder', async () => (await slices(client)).length === 1)
    assert.deepEqual(
      await until('empty Endpoints', () => subsets(client).catch(() => undefined)),
      [],
    )
    const made = await client.create(pods, 'default', {
      metadata: { name: 'a', labels },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    })
    const status = {
      phase: 'Running',
      podIP: '10.1.0.1',
      podIPs: [{ ip: '10.1.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    }
    await client.update(pods, { ...made, status }, 'status')
    await until('its address', async () => (await addresses(client)) === '10.1.0.1')
    await until('its subset', async () => (await subsets(client))[0]?.addresses?.length === 1)
    await client.delete(pods, 'default', 'a', { gracePeriodSeconds: 0 })
    await until('no address', async () => (await addresses(client)) === '')
    await until('no subset', async () => (await subsets(client)).length === 0)
    await client.delete(services, 'default', 'web')
    await until('no Endpoints', () => isGone(client))
  }))

test('Endpoints of a service without a selector are mirrored', () =>
  withCluster(async ({ client }) => {
    await client.create(services, 'default', service())
    const subset = (ip: string) => [{ addresses: [{ ip }], ports: [{ name: 'http', port: 80 }] }]
    await client.create(endpoints, 'default', { metadata, subsets: subset('10.1.2.3') })
    await until('a mirror', async () => (await addresses(client)) === '10.1.2.3')
    const [first] = await slices(client)
    await client.patch(endpoints, 'default', 'web', { subsets: subset('10.2.3.4') })
    await until('another address', async () => (await addresses(client)) === '10.2.3.4')
    const [second] = await slices(client)
    assert.equal(second?.metadata.uid, first?.metadata.uid)
    await client.delete(core('endpoints'), 'default', 'web')
    await until('no mirror', async () => (await slices(client)).length === 0)
  }))
