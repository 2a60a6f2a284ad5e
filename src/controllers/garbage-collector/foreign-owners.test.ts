/** In which releases the garbage collector reports owners of other namespaces, and how. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { configMap, core, startCluster } from '#controllers/cluster.suite.ts'
import { garbageCollector } from './garbage-collector.ts'

const [maps, namespaces, nodes, events] = ['configmaps', 'namespaces', 'nodes', 'events'].map(core)

for (const [release, isReported] of [
  [19, false],
  [20, true],
  [22, true],
  [37, true],
] as const)
  test(`1.${release} ${isReported ? 'reports' : 'ignores'} an owner of another namespace`, async () => {
    const cluster = await startCluster({ release })
    try {
      const { client } = cluster
      await client.create(namespaces!, '', { metadata: { name: 'elsewhere' } })
      const owner = await client.create(maps!, 'default', configMap('default', 'owner'))
      const stranger = configMap('elsewhere', 'stranger', [owner])
      const { uid } = (await client.create(maps!, 'elsewhere', stranger)).metadata
      // The owner of an object without a namespace cannot be looked up, so the object is kept.
      const { ownerReferences } = stranger.metadata
      const machine = { metadata: { name: 'machine', ownerReferences } } as KubeObject
      const node = await client.create(nodes!, '', machine)
      cluster.run(garbageCollector)
      await until('the stranger is gone', async () => {
        return (await client.list(maps!, 'elsewhere')).items.length === 0
      })
      const eventsOf = async () =>
        (await client.list(events!, '')).items
          .map(({ metadata, involvedObject, ...event }) => ({
            namespace: metadata.namespace,
            involvedObject,
            type: event['type'],
            reason: event['reason'],
            message: event['message'],
            source: event['source'],
          }))
          .sort((a, b) => (a.namespace! < b.namespace! ? -1 : 1))
      const expected = ['', 'elsewhere'].map((namespace) => ({
        namespace: namespace || 'default',
        involvedObject: {
          apiVersion: 'v1',
          ...(namespace === ''
            ? { kind: 'Node', name: 'machine', uid: node.metadata.uid }
            : { kind: 'ConfigMap', name: 'stranger', namespace, uid }),
        },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "${namespace}"`,
        source: { component: 'garbage-collector-controller' },
      }))
      if (isReported)
        await until('both events', async () => (await eventsOf()).length === expected.length)
      assert.deepEqual(await eventsOf(), isReported ? expected : [])
    } finally {
      await cluster.stop()
    }
  })
