import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { forbiddenRequest } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { type Cluster, core, startCluster } from '#controllers/cluster.suite.ts'
import { events, replicaSets, replicationControllers } from '#controllers/resources.ts'
import { replicaSetController } from './replicaset.ts'
import { replicationController } from './replicationcontroller.ts'

const pods = core('pods')
const labels = { app: 'web' }
const spec = { containers: [{ name: 'c', image: 'i' }] }
const kinds: [kind: string, ResourceRef, selector: Loose][] = [
  ['ReplicaSet', replicaSets, { matchLabels: labels }],
  ['ReplicationController', replicationControllers, labels],
]
const owner = (selector: Loose, replicas: number): KubeObject => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: { replicas, selector, template: { metadata: { labels }, spec } },
})

async function withCluster(
  check: (cluster: Cluster) => Promise<void>,
  options: Parameters<typeof startCluster>[0] = {},
) {
  const cluster = await startCluster({ release: 37, ...options })
  try {
    cluster.run(replicaSetController, replicationController)
    await check(cluster)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
}

const ownedPods = async (client: ApiClient, kind: string) =>
  (await client.list(pods, 'default')).items.filter(({ metadata }) =>
    metadata.ownerReferences?.some((one) => one.kind === kind && one.controller),
  )

for (const [kind, resource, selector] of kinds) {
  const live = (client: ApiClient) => client.get(resource, 'default', 'web')

  test(`a ${kind} has as many pods as it specifies`, () =>
    withCluster(async ({ client }) => {
      await client.create(resource, 'default', owner(selector, 3))
      for (const replicas of [3, 5, 1, 0]) {
        const existing = await live(client)
        existing.spec = { ...existing.spec, replicas }
        const { metadata } = await client.update(resource, existing)
        await until(`it has ${replicas}`, async () => {
          const { status } = await live(client)
          return (
            (await ownedPods(client, kind)).length === replicas &&
            (status?.replicas ?? 0) === replicas &&
            status?.observedGeneration === metadata.generation
          )
        })
      }
      await until('events say so', async () => {
        const { items } = await client.list(events, 'default')
        const reasons = items.map(({ reason }) => reason)
        return (
          reasons.filter((one) => one === 'SuccessfulCreate').length === 5 &&
          reasons.filter((one) => one === 'SuccessfulDelete').length === 5
        )
      })
    }))

  test(`a ${kind} replaces a pod that is deleted or has failed`, () =>
    withCluster(async ({ client }) => {
      await client.create(resource, 'default', owner(selector, 2))
      await until('two pods', async () => (await ownedPods(client, kind)).length === 2)
      const [first, second] = await ownedPods(client, kind)
      assert.ok(first && second)
      await client.delete(pods, 'default', first.metadata.name as string)
      await client.update(pods, { ...second, status: { phase: 'Failed' } }, 'status')
      await until('two others', async () => {
        const now = await ownedPods(client, kind)
        const isNew = ({ metadata: { uid } }: KubeObject) =>
          uid !== first.metadata.uid && uid !== second.metadata.uid
        return now.filter(isNew).length === 2 && now.length === 3
      })
    }))

  test(`a ${kind} adopts a matching pod and releases one that matches no more`, () =>
    withCluster(async ({ client }) => {
      const orphan = { metadata: { name: 'orphan', namespace: 'default', labels }, spec }
      await client.create(pods, 'default', orphan)
      await client.create(resource, 'default', owner(selector, 1))
      const isOwned = async () =>
        (await ownedPods(client, kind)).some(({ metadata }) => metadata.name === 'orphan')
      await until('it is adopted', isOwned)
      assert.equal((await ownedPods(client, kind)).length, 1)
      await client.patch(pods, 'default', 'orphan', { metadata: { labels: { app: 'other' } } })
      await until('it is released and replaced', async () => {
        const owned = await ownedPods(client, kind)
        return owned.length === 1 && !(await isOwned())
      })
    }))
}

test('a replica set that may not create pods has a condition until it may', () => {
  let full = true
  const wrap = (client: ApiClient): ApiClient =>
    new Proxy(client, {
      get(target, name: keyof ApiClient) {
        const method = (target[name] as (...args: unknown[]) => unknown).bind(target)
        return (resource: ResourceRef, ...args: unknown[]) => {
          if (full && name === 'create' && resource.plural === 'pods')
            throw forbiddenRequest(resource, 'x', 'exceeded quota')
          return method(resource, ...args)
        }
      },
    })
  return withCluster(
    async ({ client }) => {
      const conditions = async () =>
        (await client.get(replicaSets, 'default', 'web')).status?.conditions ?? []
      await client.create(replicaSets, 'default', owner({ matchLabels: labels }, 2))
      await until('it has a condition', async () => (await conditions()).length === 1)
      const [{ type, status, reason, message }] = await conditions()
      assert.deepEqual([type, status, reason], ['ReplicaFailure', 'True', 'FailedCreate'])
      assert.match(message, /exceeded quota/)
      full = false
      await until('it has none', async () => (await conditions()).length === 0)
    },
    { wrap },
  )
})
