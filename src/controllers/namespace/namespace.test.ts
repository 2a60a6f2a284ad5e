import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdmissionChain } from '#admission/chain.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { type Cluster, configMap, core, startCluster } from '#controllers/cluster.suite.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { localClient } from '#verbs/local-client.ts'
import { nextConditions } from './conditions.ts'
import { namespaceController } from './namespace.ts'

const namespaces = core('namespaces')

async function makeNamespace(cluster: Cluster, name: string) {
  await cluster.client.create(namespaces, '', { metadata: { name } })
}
const isGone = async (cluster: Cluster, name: string) =>
  (await unlessMissing(cluster.client.get(namespaces, '', name))) === undefined

test('a deleted namespace is emptied and goes', async () => {
  const cluster = await startCluster()
  try {
    cluster.run(namespaceController)
    await makeNamespace(cluster, 'a')
    await makeNamespace(cluster, 'b')
    for (const namespace of ['a', 'b']) {
      await cluster.client.create(core('configmaps'), namespace, configMap(namespace, 'one'))
      await cluster.client.create(core('serviceaccounts'), namespace, {
        metadata: { name: 'robot' },
      })
    }
    await cluster.client.delete(namespaces, '', 'a')
    await until('the namespace is gone', () => isGone(cluster, 'a'))
    assert.equal((await cluster.client.list(core('configmaps'), 'a')).items.length, 0)
    assert.equal((await cluster.client.list(core('configmaps'), 'b')).items.length, 1)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('an object with a finalizer holds its namespace, and the status shows it', async () => {
  const cluster = await startCluster()
  try {
    await makeNamespace(cluster, 'held')
    const held = configMap('held', 'one')
    held.metadata.finalizers = ['example.com/keep']
    await cluster.client.create(core('configmaps'), 'held', held)
    await cluster.client.delete(namespaces, '', 'held')
    // The controller may begin after the deletion: it is not an event that it lives by.
    cluster.run(namespaceController)
    const conditionsOf = async () =>
      ((await cluster.client.get(namespaces, '', 'held')).status?.conditions ?? []) as KubeObject[]
    await until('conditions', async () => (await conditionsOf()).length > 0)
    const said = Object.fromEntries(
      (await conditionsOf()).map(({ type, status, reason, message }) => [
        type,
        `${status} ${reason}: ${message}`,
      ]),
    )
    assert.deepEqual(said, {
      NamespaceDeletionDiscoveryFailure:
        'False ResourcesDiscovered: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure:
        'False ParsedGroupVersions: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure:
        'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/keep in 1 resource instances',
    })
    await cluster.client.patch(core('configmaps'), 'held', 'one', {
      metadata: { finalizers: null },
    })
    await until('the namespace is gone', () => isGone(cluster, 'held'))
  } finally {
    await cluster.stop()
  }
})

test('conditions change only where they say something new', () => {
  const nothing = {
    discoveryErrors: [],
    contentErrors: [],
    remaining: new Map(),
    finalizers: new Map(),
  }
  const first = nextConditions([], nothing, 't1')
  assert.equal(first?.length, 5)
  assert.equal(nextConditions(first ?? [], nothing, 't2'), undefined)
  const failed = nextConditions(first ?? [], { ...nothing, contentErrors: ['b', 'a'] }, 't3')
  const content = failed?.find(({ type }) => type === 'NamespaceDeletionContentFailure')
  assert.deepEqual(content, {
    type: 'NamespaceDeletionContentFailure',
    status: 'True',
    lastTransitionTime: 't3',
    reason: 'ContentDeletionFailed',
    message: 'Failed to delete all resource types, 2 remaining: a, b',
  })
})

test('a server that starts anew finishes what another began', async () => {
  const storage = createMemoryStorage()
  const first = await startCluster({ storage })
  await makeNamespace(first, 'half')
  await first.client.create(core('configmaps'), 'half', configMap('half', 'one'))
  await first.client.delete(namespaces, '', 'half')
  await first.stop()
  const second = await startCluster({ storage })
  try {
    second.run(namespaceController)
    await until('the namespace is gone', () => isGone(second, 'half'))
  } finally {
    await second.stop()
    await storage.close()
  }
})

test('what another server let in before it saw the deletion goes too', async () => {
  const cluster = await startCluster()
  try {
    const { server, surroundings } = cluster
    Object.assign(surroundings, { othersSeeMs: 500 })
    const admission = new AdmissionChain([], server.reader)
    const user = { name: 'other', uid: '', groups: [], extra: {} }
    const other = localClient({ ...server, admission }, user, 'other')
    cluster.run(namespaceController)
    await makeNamespace(cluster, 'shared')
    await cluster.client.delete(namespaces, '', 'shared')
    await new Promise((resolve) => setTimeout(resolve, 100))
    await other.create(core('configmaps'), 'shared', configMap('shared', 'late'))
    await until('the namespace is gone', () => isGone(cluster, 'shared'))
    assert.equal((await cluster.client.list(core('configmaps'), 'shared')).items.length, 0)
  } finally {
    await cluster.stop()
  }
})

for (const [release, isKept, remaining] of [
  [32, false, 'Some resources are remaining: pods. has 1 resource instances'],
  [33, true, 'All content successfully removed'],
  [37, true, 'All content successfully removed'],
] as const)
  test(`a pod that remains keeps the rest of its namespace in 1.${release}: ${isKept}`, async () => {
    const cluster = await startCluster({ release })
    const { client } = cluster
    try {
      await makeNamespace(cluster, 'held')
      await client.create(core('configmaps'), 'held', configMap('held', 'one'))
      await client.create(core('pods'), 'held', {
        metadata: { name: 'pod', finalizers: ['example.com/keep'] },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      })
      cluster.run(namespaceController)
      await client.delete(namespaces, '', 'held')
      let conditions: KubeObject[] = []
      await until('conditions', async () => {
        conditions = (await client.get(namespaces, '', 'held')).status?.conditions ?? []
        return conditions.length > 0
      })
      const shown = conditions.find(({ type }) => type === 'NamespaceContentRemaining')
      assert.equal(shown?.['message'], remaining)
      const { items } = await client.list(core('configmaps'), 'held')
      assert.equal(items.length, isKept ? 1 : 0)
      await client.patch(core('pods'), 'held', 'pod', { metadata: { finalizers: null } })
      await until('the namespace is gone', () => isGone(cluster, 'held'))
    } finally {
      await cluster.stop()
    }
  })
