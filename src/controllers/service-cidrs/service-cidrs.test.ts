/** ServiceCIDRs and their finalizer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { selectControllers } from '#controllers/names.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { ipAddresses, serviceCidrs } from '#controllers/resources.ts'
import type { ApiClient } from '#client/client.ts'
import { serviceCidrController } from './service-cidrs.ts'

const address = (name: string, manager = 'ipallocator.k8s.io') => ({
  metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': manager } },
  spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
})
const cidr = (name: string, ...cidrs: string[]) => ({ metadata: { name }, spec: { cidrs } })

async function seen(client: ApiClient, name = 'a'): Promise<string> {
  const object: KubeObject | undefined = await unlessMissing(client.get(serviceCidrs, '', name))
  if (object === undefined) return 'gone'
  const { finalizers = [], deletionTimestamp } = object.metadata
  const [condition]: Loose[] = object.status?.conditions ?? []
  const isDeleted = deletionTimestamp === undefined ? 'kept' : 'deleted'
  return [isDeleted, ...finalizers, condition?.status, condition?.reason].join(' ')
}

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
const isReady = `kept ${finalizer} True `
const isBlocked = `deleted ${finalizer} False Terminating`

const cases: [title: string, before: string[], others: string[][], first: string][] = [
  ['without addresses is deleted', [], [], 'gone'],
  ['with an address of a service is kept', ['10.9.0.1'], [], isBlocked],
  ['with an address of another block is deleted', ['10.8.0.1'], [['10.8.0.0/24']], 'gone'],
  ['within another is deleted', ['10.9.0.1'], [['10.9.0.0/16']], 'gone'],
  ['whose addresses others have is deleted', ['10.9.0.1'], [['10.9.0.0/28']], 'gone'],
  ['whose addresses others lack is kept', ['10.9.0.1'], [['10.9.0.128/28']], isBlocked],
]
for (const [title, addresses, others, first] of cases) {
  test(`a deleted ServiceCIDR ${title}`, async () => {
    const cluster = await startCluster({ release: 37 })
    const { client } = cluster
    try {
      cluster.run(serviceCidrController)
      await client.create(serviceCidrs, '', cidr('a', '10.9.0.0/24'))
      for (const [i, blocks] of others.entries())
        await client.create(serviceCidrs, '', cidr(`b${i}`, ...blocks))
      for (const name of addresses) await client.create(ipAddresses, '', address(name))
      await client.create(ipAddresses, '', address('10.9.0.2', 'example.com'))
      await until('it is ready', async () => (await seen(client)) === isReady)
      await client.delete(serviceCidrs, '', 'a')
      await until(first, async () => (await seen(client)) === first)
      if (first === isBlocked) {
        for (const name of addresses) await client.delete(ipAddresses, '', name)
        await until('it is gone', async () => (await seen(client)) === 'gone')
      }
      assert.deepEqual(cluster.complaints, [])
    } finally {
      await cluster.stop()
    }
  })
}

test('a new ServiceCIDR with the addresses unblocks a deletion', async () => {
  const cluster = await startCluster({ release: 37 })
  const { client } = cluster
  try {
    cluster.run(serviceCidrController)
    await client.create(serviceCidrs, '', cidr('a', '10.9.0.0/24'))
    await client.create(ipAddresses, '', address('10.9.0.1'))
    await until('it is ready', async () => (await seen(client)) === isReady)
    await client.delete(serviceCidrs, '', 'a')
    await until('it is blocked', async () => (await seen(client)) === isBlocked)
    await client.create(serviceCidrs, '', cidr('b', '10.9.0.0/28'))
    await until('it is gone', async () => (await seen(client)) === 'gone')
  } finally {
    await cluster.stop()
  }
})

for (const [release, isThere] of [
  [32, false],
  [33, true],
] as const) {
  test(`1.${release} ${isThere ? 'has' : 'does not have'} the controller`, () => {
    const names = selectControllers(['*'], release) as readonly string[]
    assert.equal(names.includes('service-cidr-controller'), isThere)
  })
}
