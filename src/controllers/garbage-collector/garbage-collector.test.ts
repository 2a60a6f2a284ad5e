import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { type Cluster, configMap, core, startCluster } from '#controllers/cluster.suite.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { garbageCollector } from './garbage-collector.ts'

const maps = core('configmaps')

const make = (cluster: Cluster, name: string, owners: KubeObject[] = [], more: object = {}) => {
  const object = configMap('default', name, owners)
  Object.assign(object.metadata, more)
  return cluster.client.create(maps, 'default', object)
}
const find = (cluster: Cluster, name: string) =>
  unlessMissing(cluster.client.get(maps, 'default', name))
const names = async (cluster: Cluster) =>
  (await cluster.client.list(maps, 'default')).items.map(({ metadata }) => metadata.name).join(' ')

async function inCluster(run: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await startCluster()
  try {
    await run(cluster)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
}

test('background: what an owner leaves behind goes, level by level', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    const root = await make(cluster, 'root')
    const child = await make(cluster, 'child', [root])
    await make(cluster, 'grandchild', [child])
    await make(cluster, 'other')
    await cluster.client.delete(maps, 'default', 'root', { propagationPolicy: 'Background' })
    await until('only the other is left', async () => (await names(cluster)) === 'other')
  }))

test('an owner that is there keeps its dependents; references to one that is gone are dropped', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    const [first, second] = [await make(cluster, 'first'), await make(cluster, 'second')]
    await make(cluster, 'shared', [first, second])
    await cluster.client.delete(maps, 'default', 'first')
    await until('one reference is left', async () => {
      const shared = await find(cluster, 'shared')
      return shared?.metadata.ownerReferences?.length === 1
    })
    assert.equal(await names(cluster), 'second shared')
  }))

test('orphan: dependents stay and lose their reference', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    const root = await make(cluster, 'root')
    for (const name of ['a', 'b', 'c']) await make(cluster, name, [root])
    await cluster.client.delete(maps, 'default', 'root', { propagationPolicy: 'Orphan' })
    await until('the owner is gone', async () => (await names(cluster)) === 'a b c')
    for (const name of ['a', 'b', 'c']) {
      assert.equal((await find(cluster, name))?.metadata.ownerReferences, undefined)
    }
  }))

test('foreground: the owner goes last', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    const root = await make(cluster, 'root')
    await make(cluster, 'child', [root], { finalizers: ['example.com/wait'] })
    await cluster.client.delete(maps, 'default', 'root', { propagationPolicy: 'Foreground' })
    await until('the child is being deleted', async () => {
      return (await find(cluster, 'child'))?.metadata.deletionTimestamp !== undefined
    })
    assert.deepEqual((await find(cluster, 'root'))?.metadata.finalizers, ['foregroundDeletion'])
    await cluster.client.patch(maps, 'default', 'child', { metadata: { finalizers: null } })
    await until('both are gone', async () => (await names(cluster)) === '')
  }))

test('what was left before it started: absent owners, deletions under way', () =>
  inCluster(async (cluster) => {
    const ghost = { metadata: { name: 'ghost', uid: 'b6f0fd3c-0000-4000-8000-000000000000' } }
    await make(cluster, 'haunted', [ghost])
    const root = await make(cluster, 'root')
    await make(cluster, 'free', [root])
    await cluster.client.delete(maps, 'default', 'root', { propagationPolicy: 'Orphan' })
    cluster.run(garbageCollector)
    await until('only the orphan is left', async () => (await names(cluster)) === 'free')
  }))

test('an owner of the same name but another uid is not the owner', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    const root = await make(cluster, 'root')
    root.metadata.uid = 'b6f0fd3c-0000-4000-8000-000000000000'
    await make(cluster, 'child', [root])
    await until('the child is gone', async () => (await names(cluster)) === 'root')
  }))

const mistakes: [what: string, mistake: (owner: KubeObject) => KubeObject][] = [
  ['of another kind', (owner) => ({ ...owner, kind: 'Secret' })],
  ['of another name', (owner) => ({ ...owner, metadata: { ...owner.metadata, name: 'other' } })],
]
for (const [what, mistake] of mistakes) {
  for (const isKnown of [true, false]) {
    const when = isKnown ? 'is known' : 'is met'
    test(`an owner ${what} is not the owner, when that one ${when}`, () =>
      inCluster(async (cluster) => {
        const root = await make(cluster, 'root')
        if (isKnown) cluster.run(garbageCollector)
        await make(cluster, 'right', [root])
        if (isKnown) await sleep(300)
        await make(cluster, 'wrong', [mistake(root)])
        if (!isKnown) cluster.run(garbageCollector)
        await until('it is gone', async () => (await names(cluster)) === 'right root')
      }))
  }
}

test('a reference from another namespace does not free the owner of its own dependents', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    await cluster.client.create(core('namespaces'), '', { metadata: { name: 'elsewhere' } })
    const root = await make(cluster, 'root')
    await cluster.client.create(maps, 'elsewhere', configMap('elsewhere', 'stranger', [root]))
    await make(cluster, 'child', [root])
    await until('the stranger is gone', async () => {
      return (await cluster.client.list(maps, 'elsewhere')).items.length === 0
    })
    assert.equal(await names(cluster), 'child root')
    await cluster.client.delete(maps, 'default', 'root')
    await until('all are gone', async () => (await names(cluster)) === '')
  }))

test('an owner of a kind that is not served keeps its dependents', () =>
  inCluster(async (cluster) => {
    cluster.run(garbageCollector)
    const owner = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', uid: 'b6f0fd3c-0000-4000-8000-000000000000' },
    }
    await make(cluster, 'child', [owner])
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(await names(cluster), 'child')
    cluster.complaints.length = 0
  }))

test('watches that end and lists that are refused cost nothing but time', async () => {
  let broken = 0
  const cluster = await startCluster({
    wrap: (client) => ({
      ...bound(client),
      async *watch(...args) {
        let left = 3
        for await (const event of client.watch(...args)) {
          yield event
          if (--left === 0) {
            broken++
            return
          }
        }
      },
    }),
  })
  try {
    cluster.run(garbageCollector)
    const root = await make(cluster, 'root')
    for (let i = 0; i < 20; i++) await make(cluster, `child-${i}`, [root])
    await cluster.client.delete(maps, 'default', 'root')
    await until('all are gone', async () => (await names(cluster)) === '')
    assert.ok(broken > 3)
  } finally {
    await cluster.stop()
  }
})

/**
 * A cluster in which secrets become served and listed when the test decides, and definitions that
 * announce it.
 */
async function inClusterWithNews(
  run: (
    cluster: Cluster,
    news: { isServed: boolean; isListed: boolean; isAsked: boolean },
  ) => Promise<void>,
): Promise<void> {
  const news = { isServed: false, isListed: true, isAsked: false }
  const cluster = await startCluster({
    wrap: (client) => ({
      ...bound(client),
      resources: async () =>
        (await client.resources()).filter(({ plural }) => news.isServed || plural !== 'secrets'),
      async list(ref, ...rest) {
        if (ref.plural === 'secrets') news.isAsked = true
        while (ref.plural === 'secrets' && !news.isListed) await sleep(5)
        return client.list(ref, ...rest)
      },
    }),
  })
  try {
    await run(cluster, news)
  } finally {
    news.isListed = true
    await cluster.stop()
  }
}

const define = (cluster: Cluster, plural: string) =>
  cluster.client.create(
    { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
    '',
    {
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural, kind: `Kind${plural}` },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    },
  )

test('orphan: an owner waits for what may be its dependents and is not listed yet', () =>
  inClusterWithNews(async (cluster, news) => {
    cluster.run(garbageCollector)
    const root = await make(cluster, 'root')
    const child = await cluster.client.create(core('secrets'), 'default', {
      ...configMap('default', 'child', [root]),
    })
    // Until it has begun: what is garbage goes.
    await make(cluster, 'garbage', [{ metadata: { name: 'ghost', uid: 'ghost' } }])
    await until('it has begun', async () => (await names(cluster)) === 'root')
    news.isListed = false
    news.isServed = true
    await define(cluster, 'things')
    await until('they are asked for', () => news.isAsked)
    await cluster.client.delete(maps, 'default', 'root', { propagationPolicy: 'Orphan' })
    await sleep(500)
    assert.equal(await names(cluster), 'root')
    news.isListed = true
    await until('the owner is gone', async () => (await names(cluster)) === '')
    const free = await cluster.client.get(core('secrets'), 'default', 'child')
    assert.equal(free.metadata.uid, child.metadata.uid)
    assert.equal(free.metadata.ownerReferences, undefined)
  }))

test('a definition that changes while another is waited for is waited for as well', () =>
  inClusterWithNews(async (cluster, news) => {
    cluster.run(garbageCollector)
    await make(cluster, 'garbage', [{ metadata: { name: 'ghost', uid: 'ghost' } }])
    await until('it has begun', async () => (await names(cluster)) === '')
    await cluster.client.create(core('secrets'), 'default', {
      ...configMap('default', 'child', [{ metadata: { name: 'ghost', uid: 'ghost' } }]),
    })
    await sleep(300)
    await define(cluster, 'first')
    await sleep(120)
    await define(cluster, 'second')
    await sleep(120)
    news.isServed = true
    const began = performance.now()
    await until('the child is gone', async () => {
      return (await cluster.client.list(core('secrets'), 'default')).items.length === 0
    })
    assert.ok(performance.now() - began < 15_000)
  }))

function bound(client: ApiClient): ApiClient {
  return {
    get: (...args) => client.get(...args),
    list: (...args) => client.list(...args),
    create: (...args) => client.create(...args),
    update: (...args) => client.update(...args),
    patch: (...args) => client.patch(...args),
    apply: (...args) => client.apply(...args),
    delete: (...args) => client.delete(...args),
    deleteCollection: (...args) => client.deleteCollection(...args),
    watch: (...args) => client.watch(...args),
    resources: () => client.resources(),
  }
}
