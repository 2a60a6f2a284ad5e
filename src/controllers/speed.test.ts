/**
 * Two promises of speed as work done: requests made and objects read, which hold on any machine.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { configMap, core, startCluster } from './cluster.suite.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { namespaceController } from './namespace/namespace.ts'
import { podCollector } from './pods/pod-collector.ts'
import { unlessMissing } from './queue-for.ts'
import { claimProtection } from './volume-protection/volume-protection.ts'

const labels = { app: 'x' }
const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels }, spec: podSpec }
const selector = { matchLabels: labels }
const rbac = 'rbac.authorization.k8s.io'

/** Twenty kinds, with the least that makes an object of each. */
const kinds: [group: string, version: string, plural: string, body: Loose][] = [
  ['', 'v1', 'configmaps', {}],
  ['', 'v1', 'secrets', {}],
  ['', 'v1', 'serviceaccounts', {}],
  ['', 'v1', 'endpoints', {}],
  ['', 'v1', 'limitranges', { spec: { limits: [] } }],
  ['', 'v1', 'podtemplates', { template }],
  ['', 'v1', 'replicationcontrollers', { spec: { selector: labels, template } }],
  ['', 'v1', 'pods', { spec: podSpec }],
  [
    '',
    'v1',
    'persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } },
  ],
  ['', 'v1', 'resourcequotas', { spec: {} }],
  ['apps', 'v1', 'deployments', { spec: { selector, template } }],
  ['apps', 'v1', 'replicasets', { spec: { selector, template } }],
  ['apps', 'v1', 'daemonsets', { spec: { selector, template } }],
  ['apps', 'v1', 'statefulsets', { spec: { selector, template, serviceName: 's' } }],
  ['apps', 'v1', 'controllerrevisions', { revision: 1, data: {} }],
  ['batch', 'v1', 'jobs', { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } }],
  ['networking.k8s.io', 'v1', 'networkpolicies', { spec: { podSelector: {} } }],
  [rbac, 'v1', 'roles', { rules: [] }],
  [
    rbac,
    'v1',
    'rolebindings',
    { roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' }, subjects: [] },
  ],
  ['coordination.k8s.io', 'v1', 'leases', { spec: {} }],
]

/** Many at once, as clients do. */
async function createAll(
  client: ApiClient,
  count: number,
  one: (i: number) => [ResourceRef, KubeObject],
) {
  let next = 0
  const worker = async () => {
    while (next < count) {
      const [ref, object] = one(next++)
      await client.create(ref, object.metadata.namespace as string, object)
    }
  }
  await Promise.all(Array.from({ length: 32 }, worker))
}

test('a full namespace is emptied by few requests and few objects read', async () => {
  const calls = noCalls()
  const cluster = await startCluster({ wrap: (client) => counted(client, calls) })
  const objects = 2000
  try {
    const namespaces = core('namespaces')
    await cluster.client.create(namespaces, '', { metadata: { name: 'full' } })
    cluster.run(namespaceController, garbageCollector, claimProtection, podCollector)
    await createAll(cluster.client, objects, (i) => {
      const [group, version, plural, body] = kinds[i % kinds.length] as (typeof kinds)[number]
      const name = `o-${i}`
      return [
        { group, version, plural },
        { ...structuredClone(body), metadata: { name, namespace: 'full' } },
      ]
    })
    const served = (await cluster.client.resources()).length
    Object.assign(calls, noCalls())
    await cluster.client.delete(namespaces, '', 'full')
    await until(
      'the namespace is gone',
      async () => (await unlessMissing(cluster.client.get(namespaces, '', 'full'))) === undefined,
    )
    for (const [group, version, plural] of kinds) {
      const { items } = await cluster.client.list({ group, version, plural }, 'full')
      assert.equal(items.length, 0, plural)
    }
    // Finalizers of pods and claims are removed one by one by their holders; everything else is
    // deleted with its kind.
    const heldOne = objects / kinds.length
    const looks = calls.list / served
    assert.ok(looks < 6, `${calls.list} lists of ${served} kinds`)
    assert.ok(calls.deleteCollection < 20 + 4 * looks, `${calls.deleteCollection} collections`)
    assert.ok(calls.delete <= 2 * heldOne, `${calls.delete} single deletions`)
    assert.ok(calls.get < 3 * heldOne + 20, `${calls.get} single reads`)
    assert.ok(calls.objectsListed < 8 * heldOne, `${calls.objectsListed} objects read by lists`)
  } finally {
    await cluster.stop()
  }
})

test('a tree of 5,000 objects is collected without a scan per object', async () => {
  const calls = noCalls()
  const cluster = await startCluster({ wrap: (client) => counted(client, calls) })
  const maps = core('configmaps')
  try {
    cluster.run(garbageCollector)
    // Each node has seventeen children: 1 + 17 + 289 + 4,693.
    const made: KubeObject[] = [
      await cluster.client.create(maps, 'default', configMap('default', 'n-0')),
    ]
    for (let from = 1; from < 5000; ) {
      const to = Math.min(5000, made.length * 17 + 1)
      const level = Array.from({ length: to - from }, (_, i) => from + i)
      const objects = level.map((i) =>
        configMap('default', `n-${i}`, [made[Math.floor((i - 1) / 17)] as KubeObject]),
      )
      made.push(
        ...(await Promise.all(
          objects.map((object) => cluster.client.create(maps, 'default', object)),
        )),
      )
      from = to
    }
    Object.assign(calls, noCalls())
    await cluster.client.delete(maps, 'default', 'n-0', { propagationPolicy: 'Background' })
    await until(
      'the tree is gone',
      async () => (await cluster.client.list(maps, 'default', { limit: 1 })).items.length === 0,
    )
    assert.ok(calls.delete >= 4999 && calls.delete < 6000, `${calls.delete} deletions`)
    assert.ok(calls.get < 7000, `${calls.get} reads`)
    assert.ok(calls.objectsListed < 100, `${calls.objectsListed} objects listed`)
  } finally {
    await cluster.stop()
  }
})

const noCalls = () => ({ get: 0, list: 0, objectsListed: 0, delete: 0, deleteCollection: 0 })

function counted(client: ApiClient, calls: ReturnType<typeof noCalls>): ApiClient {
  return new Proxy(client, {
    get(target, name: keyof ApiClient) {
      const method = (target[name] as (...args: unknown[]) => unknown).bind(target)
      if (name === 'list') {
        return async (...args: unknown[]) => {
          const page = (await method(...args)) as { items: unknown[] }
          calls.list++
          calls.objectsListed += page.items.length
          return page
        }
      }
      if (name === 'get' || name === 'delete' || name === 'deleteCollection') calls[name]++
      return method
    },
  })
}
