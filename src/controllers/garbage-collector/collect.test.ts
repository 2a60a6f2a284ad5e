/** What the watch reports while the collector waits for a response counts, and not the response. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { notFound, pathNotFound } from '#api/status-error.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { configMap, core } from '#controllers/cluster.suite.ts'
import { Collector, UnknownOwnerKind } from './collect.ts'
import { foregroundFinalizer, Graph } from './graph.ts'
import type { OwnerKinds } from './owner-kinds.ts'

const maps = core('configmaps')

function made(name: string, owners: KubeObject[] = []): KubeObject {
  const object = configMap('default', name, owners)
  return { ...object, metadata: { ...object.metadata, uid: `uid-${name}`, resourceVersion: '1' } }
}

test('an owner that begins to wait for its dependents while it is read waits for them', async () => {
  const [owner, gone] = [made('owner'), made('gone')]
  const dependent = made('dependent', [gone, owner])
  const deletedNow: KubeObject = {
    ...owner,
    metadata: {
      ...owner.metadata,
      resourceVersion: '2',
      deletionTimestamp: '2021-01-01T00:00:00Z',
      finalizers: [foregroundFinalizer],
    },
  }
  const served = { ...maps, namespaced: true }
  const kinds = { of: () => served, isNamespaced: () => true } as unknown as OwnerKinds
  const examined: string[] = []
  const graph = new Graph({
    examine: ({ name }) => examined.push(name),
    orphan: () => assert.fail('nothing is set free'),
    resourceOf: () => maps,
  })
  let latest = owner
  const patches: object[] = []
  const client = {
    async get(_ref: unknown, _namespace: string, name: string) {
      if (name === 'dependent') return dependent
      if (name === 'gone') throw notFound(maps, name)
      const answer = latest
      if (latest === owner) {
        latest = deletedNow
        graph.changed(maps, deletedNow)
      }
      return answer
    },
    async patch(...[, , , change]: unknown[]) {
      patches.push(change as object)
    },
    async delete() {
      patches.push({})
    },
  } as unknown as ApiClient
  const collector = new Collector(client, graph, kinds, () => {})
  graph.changed(maps, dependent)
  const node = graph.get('uid-dependent')
  assert.ok(node)
  await collector.collect(node)
  assert.equal(graph.get('uid-owner')?.foreground, true)
  assert.equal(patches.length, 1)
})

test('an object whose version is served no more is not taken for gone, nor what it owns', async () => {
  const [top, middle] = [made('top'), made('middle', [made('top')])]
  const served = { ...maps, namespaced: true }
  const kinds = { of: () => served, isNamespaced: () => true } as unknown as OwnerKinds
  const examined: string[] = []
  const graph = new Graph({
    examine: ({ name }) => examined.push(name),
    orphan: () => assert.fail('nothing is set free'),
    resourceOf: () => maps,
  })
  const client = {
    async get() {
      throw pathNotFound()
    },
  } as unknown as ApiClient
  for (const object of [top, middle, made('bottom', [middle])]) graph.changed(maps, object)
  const node = graph.get('uid-middle')
  assert.ok(node)
  examined.length = 0
  const collector = new Collector(client, graph, kinds, () => {})
  await assert.rejects(collector.collect(node), UnknownOwnerKind)
  assert.equal(graph.get('uid-middle'), node)
  assert.deepEqual(examined, [])
})

test('an owner whose version is served no more is not taken for gone', async () => {
  const dependent = made('dependent', [made('gone'), made('owner')])
  const served = { ...maps, namespaced: true }
  const kinds = { of: () => served, isNamespaced: () => true } as unknown as OwnerKinds
  const graph = new Graph({
    examine: () => {},
    orphan: () => assert.fail('nothing is set free'),
    resourceOf: () => maps,
  })
  const client = {
    async get(_ref: unknown, _namespace: string, name: string) {
      if (name === 'dependent') return dependent
      throw name === 'gone' ? notFound(maps, name) : pathNotFound()
    },
    delete: async () => assert.fail('it is deleted'),
  } as unknown as ApiClient
  graph.changed(maps, dependent)
  const node = graph.get('uid-dependent')
  assert.ok(node)
  const collector = new Collector(client, graph, kinds, () => {})
  await assert.rejects(collector.collect(node), UnknownOwnerKind)
})

test('an owner that was seen to end is gone, also where its kind ended with it, unless it is seen again', async () => {
  const [owner, dependent] = [made('owner'), made('dependent', [made('owner')])]
  const kinds = { of: () => undefined, isNamespaced: () => true } as unknown as OwnerKinds
  const graph = new Graph({
    examine: () => {},
    orphan: () => assert.fail('nothing is set free'),
    resourceOf: () => undefined,
  })
  const deleted: string[] = []
  const client = {
    get: async () => dependent,
    delete: async (_ref: unknown, _namespace: string, name: string) => void deleted.push(name),
  } as unknown as ApiClient
  graph.changed(maps, dependent)
  graph.changed(maps, owner)
  const node = graph.get('uid-dependent')
  assert.ok(node)
  const collector = new Collector(client, graph, kinds, () => {})
  graph.ended('uid-owner')
  graph.changed(maps, dependent)
  graph.changed(maps, owner)
  await assert.rejects(collector.collect(node), UnknownOwnerKind)
  graph.ended('uid-owner')
  graph.changed(maps, dependent)
  await collector.collect(node)
  assert.deepEqual(deleted, ['dependent'])
})

test('an owner of another group is not the owner, whatever its uid', async () => {
  const [owner, dependent] = [made('owner'), made('dependent', [made('owner')])]
  const named = { group: 'example.com', version: 'v1', plural: 'configmaps', namespaced: true }
  const kinds = { of: () => named, isNamespaced: () => true } as unknown as OwnerKinds
  const graph = new Graph({
    examine: () => {},
    orphan: () => assert.fail('nothing is set free'),
    resourceOf: () => named,
  })
  const deleted: string[] = []
  const client = {
    async get(ref: ResourceRef, _namespace: string, name: string) {
      if (ref.group === '') return name === 'owner' ? owner : dependent
      throw notFound(ref, name)
    },
    delete: async (_ref: unknown, _namespace: string, name: string) => void deleted.push(name),
  } as unknown as ApiClient
  graph.changed(maps, dependent)
  graph.changed(maps, owner)
  const node = graph.get('uid-dependent')
  assert.ok(node)
  await new Collector(client, graph, kinds, () => {}).collect(node)
  assert.deepEqual(deleted, ['dependent'])
})

test('foreground: an owner that is named twice is held where one of the names holds it', async () => {
  const [owner, dependent] = [made('owner'), made('dependent', [made('owner'), made('owner')])]
  const first = dependent.metadata.ownerReferences?.[0] as { blockOwnerDeletion?: boolean }
  first.blockOwnerDeletion = false
  const going: KubeObject = {
    ...owner,
    metadata: {
      ...owner.metadata,
      deletionTimestamp: '2021-01-01T00:00:00Z',
      finalizers: [foregroundFinalizer],
    },
  }
  const served = { ...maps, namespaced: true }
  const kinds = { of: () => served, isNamespaced: () => true } as unknown as OwnerKinds
  const graph = new Graph({
    examine: () => {},
    orphan: () => assert.fail('nothing is set free'),
    resourceOf: () => maps,
  })
  const client = {
    get: async () => going,
    patch: async () => assert.fail('it is let go'),
  } as unknown as ApiClient
  graph.changed(maps, dependent)
  graph.changed(maps, going)
  const node = graph.get('uid-owner')
  assert.ok(node)
  const examined: string[] = []
  await new Collector(client, graph, kinds, ({ name }) => examined.push(name)).collect(node)
  assert.deepEqual(examined, ['dependent'])
})
