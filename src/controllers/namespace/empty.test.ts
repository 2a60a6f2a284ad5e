/** What is deleted of a namespace, how, and what is reported about the rest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { internalError, notFound, pathNotFound } from '#api/status-error.ts'
import { type ApiClient, PartialDiscovery } from '#client/client.ts'
import { emptyNamespace } from './empty.ts'

type Resource = Awaited<ReturnType<ApiClient['resources']>>[number]
type Metadata = KubeObject['metadata']

const all = ['delete', 'deletecollection', 'list']
const resource = (plural: string, verbs = all, namespaced = true): Resource =>
  ({
    group: '',
    version: 'v1',
    plural,
    kind: plural,
    namespaced,
    verbs: new Set(verbs),
  }) as unknown as Resource
const named = (name: string, more: Metadata = {}): KubeObject => ({
  metadata: { name, uid: `uid of ${name}`, ...more },
})
const held = (name: string) => named(name, { finalizers: ['example.com/keep'] })
const pod = (name: string, seconds: number | bigint, phase = 'Running'): KubeObject => ({
  ...named(name),
  spec: { terminationGracePeriodSeconds: seconds },
  status: { phase },
})

interface Content {
  readonly resources: Resource[]
  readonly objects: Record<string, KubeObject[]>
  /** Stay whatever is done. */
  readonly stays?: string[]
  readonly failing?: Record<string, Error>
  readonly unlisted?: Record<string, Error>
  /** The content when it is read again. */
  readonly later?: Resource[]
  readonly discovery?: Error
}

/** A cluster of lists, and the deletions it received. */
function client(content: Content) {
  const { resources, objects, stays = [], failing = {}, unlisted = {}, discovery } = content
  const answers = [resources, ...(content.later ? [content.later] : [])]
  const deleted: string[] = []
  const remove = (plural: string, name?: string) => {
    const goes = ({ metadata }: KubeObject) =>
      (name === undefined || metadata.name === name) && metadata.finalizers === undefined
    if (!stays.includes(plural)) objects[plural] = objects[plural].filter((one) => !goes(one))
  }
  const fail = (plural: string) => {
    if (failing[plural]) throw failing[plural]
  }
  const made = {
    async resources() {
      if (discovery) throw discovery
      return answers.length > 1 ? answers.shift() : answers[0]
    },
    async list({ plural }: Resource, namespace: string, query: { limit?: number } = {}) {
      assert.equal(namespace, 'ns')
      if (unlisted[plural]) throw unlisted[plural]
      return { items: (objects[plural] ?? []).slice(0, query.limit ?? 1000) }
    },
    async deleteCollection({ plural }: Resource) {
      deleted.push(`all ${plural}`)
      fail(plural)
      remove(plural)
    },
    async delete({ plural }: Resource, _namespace: string, name: string, query: { uid?: string }) {
      assert.equal(query.uid, `uid of ${name}`)
      deleted.push(`${plural}/${name}`)
      fail(plural)
      remove(plural, name)
    },
  }
  return { client: made as unknown as ApiClient, deleted }
}

interface Told {
  readonly deleted: string
  readonly errors?: string[]
  readonly remaining?: string
  readonly finalizers?: string
  readonly estimate?: number
}

const maps = resource('maps')
const single = resource('singles', ['delete', 'list'])
const pods = resource('pods')
const rows: [name: string, content: Content, told: Told, ageSeconds?: number][] = [
  ['nothing', { resources: [maps, single], objects: {} }, { deleted: '' }],
  [
    'kinds with deletecollection are emptied at once, others object by object; pods first',
    {
      resources: [maps, single, pods],
      objects: {
        maps: [named('a'), named('b')],
        singles: [named('c'), named('d')],
        pods: [pod('p', 0)],
      },
    },
    { deleted: 'all pods, all maps, singles/c, singles/d' },
  ],
  [
    'what is in no namespace, and what cannot be deleted, is left alone',
    {
      resources: [resource('nodes', all, false), resource('views', ['list'])],
      objects: { nodes: [named('a')], views: [named('b')] },
    },
    { deleted: '' },
  ],
  [
    'what cannot be listed is deleted unseen',
    {
      resources: [resource('blind', ['deletecollection', 'delete'])],
      objects: { blind: [named('a')] },
    },
    { deleted: 'all blind' },
  ],
  [
    'finalizers are counted, and given time',
    { resources: [maps], objects: { maps: [held('a'), held('b'), named('c')] } },
    { deleted: 'all maps', remaining: 'maps 2', finalizers: 'example.com/keep 2', estimate: 15 },
  ],
  [
    'pods are given the longest time any that still runs may take',
    {
      resources: [pods],
      objects: {
        pods: [pod('a', 30n), pod('b', 60n), pod('c', 99, 'Succeeded'), pod('d', 99, 'Failed')],
      },
      stays: ['pods'],
    },
    { deleted: 'all pods', remaining: 'pods 4', estimate: 60 },
  ],
  [
    'when that time is over, what remains is a failure',
    { resources: [pods], objects: { pods: [pod('a', 30)] }, stays: ['pods'] },
    {
      deleted: 'all pods',
      remaining: 'pods 1',
      errors: ['unexpected items still remain in namespace: ns for gvr: /v1, Resource=pods'],
    },
    30,
  ],
  [
    'one that cannot be deleted does not keep the others',
    {
      resources: [single, maps],
      objects: { singles: [named('a'), named('b')], maps: [named('c')] },
      failing: { singles: internalError('no') },
    },
    {
      deleted: 'all maps, singles/a, singles/b',
      errors: ['2 of singles could not be deleted: Internal error occurred: no'],
    },
  ],
  [
    'an object that was deleted meanwhile is no failure',
    {
      resources: [single, maps, resource('widgets')],
      later: [single, maps],
      objects: { singles: [named('a')], maps: [], widgets: [named('b')] },
      unlisted: { widgets: pathNotFound() },
    },
    { deleted: 'singles/a' },
  ],
  [
    'a kind that is served in another version meanwhile is not treated as removed',
    {
      resources: [maps, resource('widgets')],
      later: [maps, { ...resource('widgets'), version: 'v2' }],
      objects: { maps: [named('a')], widgets: [named('b')] },
      unlisted: { widgets: pathNotFound() },
    },
    { deleted: 'all maps', errors: ['the server could not find the requested resource'] },
  ],
  [
    'if one of several kinds was removed meanwhile, the others are not treated as removed',
    {
      resources: [maps],
      objects: { maps: [named('a'), named('b')] },
      failing: { maps: notFound({ group: '', plural: 'maps' }, 'a') },
    },
    {
      deleted: 'all maps',
      remaining: 'maps 2',
      errors: ['unexpected items still remain in namespace: ns for gvr: /v1, Resource=maps'],
    },
  ],
  [
    'if discovery of some groups fails, the others are emptied and the failure is reported',
    {
      resources: [],
      objects: { maps: [named('a')] },
      discovery: new PartialDiscovery('away', [maps]),
    },
    { deleted: 'all maps', errors: ['away'] },
  ],
  [
    'if discovery fails, the namespace is not reported as empty',
    { resources: [], objects: { maps: [named('a')] }, discovery: new Error('away') },
    { deleted: '', errors: ['away'] },
  ],
]
for (const [name, content, told, ageSeconds = 0] of rows) {
  test(name, async () => {
    const cluster = client(content)
    const emptied = await emptyNamespace(cluster.client, 'ns', ageSeconds, false)
    const counted = (counts: Map<unknown, number>) =>
      [...counts].map(([one, count]) => `${(one as Resource).plural ?? one} ${count}`).join(', ')
    const { deleted } = cluster
    const [first = '', ...rest] = deleted
    const order = first === 'all pods' ? [first, ...rest.sort()] : deleted.toSorted()
    assert.equal(order.join(', '), told.deleted)
    const errors = [...emptied.discoveryErrors, ...emptied.contentErrors]
    assert.deepEqual(errors, told.errors ?? [])
    assert.equal(counted(emptied.remaining), told.remaining ?? '')
    assert.equal(counted(emptied.finalizers), told.finalizers ?? '')
    assert.equal(emptied.estimateSeconds, told.estimate ?? 0)
  })
}

const orders: [what: string, isOrdered: boolean, stays: string[], deleted: string[]][] = [
  ['pods that remain keep the rest', true, ['pods'], ['all pods']],
  ['without pods the rest is deleted at once', true, [], ['all pods', 'all maps']],
  ['pods that remain keep nothing without order', false, ['pods'], ['all pods', 'all maps']],
]
for (const [what, isOrdered, stays, deleted] of orders)
  test(what, async () => {
    const objects = { maps: [named('a')], pods: [pod('p', 30)] }
    const cluster = client({ resources: [maps, pods], objects, stays })
    const emptied = await emptyNamespace(cluster.client, 'ns', 0, isOrdered)
    assert.deepEqual(cluster.deleted, deleted)
    assert.equal(emptied.waitsForPods, deleted.length === 1)
    assert.equal(emptied.estimateSeconds, stays.length === 0 ? 0 : 30)
  })
