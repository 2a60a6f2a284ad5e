/**
 * Which definitions are served, and until when. The cost of a new definition is tested in
 * definitions.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { conflict } from '#api/status-error.ts'
import type { ApiClient } from '#client/client.ts'
import { Catalog } from '#kinds/catalog.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Follower } from '#kinds/reader.ts'
import type { Server } from '#verbs/server.ts'
import { Definitions } from './definitions.ts'
import { cleanupFinalizer } from './finalize.ts'

const group = 'example.com'
const named = (plural: string, kind: string) => ({ plural, kind, listKind: `${kind}List` })

/** A definition with a given plural and kind. */
function definitionOf(plural: string, kind: string, more: Loose = {}): KubeObject {
  const { status, metadata, ...spec } = more
  return {
    metadata: { name: `${plural}.${group}`, uid: `uid of ${plural}`, generation: 1, ...metadata },
    spec: { group, names: named(plural, kind), versions: [], ...spec },
    status,
  }
}

/** Definitions in a store that reports every write; the catalog contains what is served. */
async function serving(
  options: {
    list?: () => Promise<{ items: KubeObject[] }>
    update?: (object: KubeObject) => void | Promise<void>
    builtIn?: Resource
  } = {},
) {
  const catalog = new Catalog([])
  if (options.builtIn !== undefined) catalog.add(options.builtIn)
  const stored = new Map<string, KubeObject>()
  const reports: string[] = []
  const dropped: Resource[] = []
  let follower: Follower | undefined
  const kind = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'x' }
  const own = { ...kind, resource: { convert: (objects: KubeObject[]) => objects } }
  const find = catalog.find.bind(catalog)
  const server = {
    catalog: Object.assign(catalog, {
      find: (g: string, v: string, p: string) => (g === kind.group ? own : find(g, v, p)),
    }),
    cache: { drop: (resource: Resource) => dropped.push(resource) },
    clock: { now: () => 0 },
    release: 22,
    reader: {
      follow: async (_group: string, _plural: string, follow: Follower) => {
        follower = follow
        return () => {}
      },
    },
  } as unknown as Server
  const put = (definition: KubeObject) => {
    stored.set(definition.metadata.name as string, definition)
    follower?.changed(definition)
  }
  const remove = (name: string) => {
    const definition = stored.get(name)
    stored.delete(name)
    if (definition) follower?.deleted(definition)
  }
  const client = {
    async update(_ref: unknown, object: KubeObject) {
      await options.update?.(object)
      const { name, finalizers, deletionTimestamp } = object.metadata
      if (deletionTimestamp && !finalizers?.length) remove(name as string)
      else put(object)
      return object
    },
    list: options.list ?? (async () => ({ items: [] })),
    deleteCollection: async () => {},
  } as unknown as ApiClient
  const parts = {
    server,
    client,
    remover: () => client,
    resourceOf: ({ status }: KubeObject) => made(status.acceptedNames.plural),
    report: (message: string) => reports.push(message),
    published: () => {},
  }
  const definitions = new Definitions(parts)
  await definitions.start()
  const served = () => [...catalog.resources()].map(({ plural }) => plural).sort()
  return { definitions, catalog, put, remove, stored, reports, dropped, served }
}

function made(plural: string): Resource {
  const kind = { group, version: 'v1', plural }
  return { group, plural, kinds: [kind], stored: kind } as unknown as Resource
}

async function turns(): Promise<void> {
  for (let i = 0; i < 30; i++) await new Promise(setImmediate)
}

const conditionOf = (definition: KubeObject | undefined, type: string) =>
  definition?.status?.conditions?.find((one: Loose) => one.type === type)

test('a definition is served from the acceptance of its names until its deletion', async () => {
  const { definitions, put, remove, served, dropped } = await serving()
  put(definitionOf('gears', 'Gear'))
  assert.deepEqual(served(), [])
  await turns()
  assert.deepEqual(served(), ['gears'])
  remove(`gears.${group}`)
  assert.deepEqual(served(), [])
  assert.deepEqual(
    dropped.map(({ plural }) => plural),
    ['gears'],
  )
  definitions.stop()
})

test('an accepted name is unique in its group, and goes to the next definition when it becomes free', async () => {
  const { definitions, put, remove, served, stored } = await serving()
  put(definitionOf('gears', 'Gear'))
  await turns()
  put(definitionOf('wheels', 'Gear'))
  await turns()
  assert.deepEqual(served(), ['gears'])
  assert.equal(conditionOf(stored.get(`wheels.${group}`), 'NamesAccepted').status, 'False')
  remove(`gears.${group}`)
  await turns()
  assert.deepEqual(served(), ['wheels'])
  assert.equal(conditionOf(stored.get(`wheels.${group}`), 'NamesAccepted').status, 'True')
  definitions.stop()
})

test('a recreated definition is served anew', async () => {
  const { definitions, put, stored, catalog } = await serving()
  put(definitionOf('gears', 'Gear'))
  await turns()
  const before = catalog.resource(group, 'gears')
  const { status } = stored.get(`gears.${group}`) as KubeObject
  put(definitionOf('gears', 'Gear', { status, metadata: { uid: 'another' } }))
  await turns()
  const after = catalog.resource(group, 'gears')
  assert.ok(before !== undefined && after !== undefined && before !== after)
  put(definitionOf('gears', 'Gear', { status, metadata: { uid: 'another' } }))
  await turns()
  assert.equal(catalog.resource(group, 'gears'), after, 'the same is not made anew')
  definitions.stop()
})

test('a built-in kind is unaffected by a definition of its name and by the deletion of that definition', async () => {
  const builtIn = made('gears')
  const { definitions, put, catalog, stored } = await serving({
    list: () => assert.fail("objects of what is built in are nobody else's"),
    builtIn,
  })
  put(definitionOf('gears', 'Gear'))
  await turns()
  assert.equal(catalog.resource(group, 'gears'), builtIn)
  const { status, metadata } = stored.get(`gears.${group}`) as KubeObject
  const leaving = { deletionTimestamp: 'now', finalizers: [cleanupFinalizer, 'other'] }
  put(definitionOf('gears', 'Gear', { status, metadata: { ...metadata, ...leaving } }))
  await turns()
  const { reason } = conditionOf(stored.get(`gears.${group}`), 'Terminating')
  assert.equal(reason, 'OverlappingBuiltInResource')
  assert.equal(catalog.resource(group, 'gears'), builtIn)
  definitions.stop()
})

test('no custom kind is served in a group with built-in kinds', async () => {
  const { definitions, put, stored, served } = await serving({ builtIn: made('gears') })
  put(definitionOf('wheels', 'Wheel'))
  put(definitionOf('axles', 'Axle', { group: 'other.example.com' }))
  await turns()
  assert.equal(conditionOf(stored.get(`wheels.${group}`), 'Established').status, 'True')
  assert.deepEqual(served(), ['axles', 'gears'])
  definitions.stop()
})

test('deleting a definition deletes its instances, and a failure is retried', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let failing = true
  const { definitions, put, served, stored, reports } = await serving({
    list: async () => {
      if (failing) throw new Error('away')
      return { items: [] }
    },
  })
  put(definitionOf('gears', 'Gear'))
  await turns()
  const { status, metadata } = stored.get(`gears.${group}`) as KubeObject
  const leaving = { deletionTimestamp: 'now', finalizers: [cleanupFinalizer] }
  put(definitionOf('gears', 'Gear', { status, metadata: { ...metadata, ...leaving } }))
  await turns()
  assert.deepEqual(reports, [`the instances of gears.${group} could not be removed`])
  const { reason } = conditionOf(stored.get(`gears.${group}`), 'Terminating')
  assert.equal(reason, 'InstanceDeletionFailed')
  assert.deepEqual(served(), ['gears'])
  failing = false
  t.mock.timers.tick(1000)
  await turns()
  assert.deepEqual([...stored.keys()], [])
  assert.deepEqual(served(), [])
  definitions.stop()
})

test('a definition waits only for others of its group', async () => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const { definitions, put, served } = await serving({
    update: ({ metadata }) => (metadata.name === `gears.${group}` ? held : undefined),
  })
  put(definitionOf('gears', 'Gear'))
  put(definitionOf('wheels', 'Gear'))
  put(definitionOf('axles', 'Gear', { group: 'other.example.com' }))
  await turns()
  assert.deepEqual(served(), ['axles'])
  goOn()
  await turns()
  assert.deepEqual(served(), ['axles', 'gears'])
  definitions.stop()
})

test('a definition that is being deleted keeps its watches, and gets the names it requests', async () => {
  const { definitions, put, stored, catalog, dropped } = await serving({
    list: () => new Promise(() => {}),
  })
  put(definitionOf('gears', 'Gear'))
  await turns()
  const before = catalog.resource(group, 'gears')
  const { status, metadata } = stored.get(`gears.${group}`) as KubeObject
  const leaving = { ...metadata, deletionTimestamp: 'now', finalizers: [cleanupFinalizer] }
  put(definitionOf('gears', 'Gear', { status, metadata: leaving }))
  await turns()
  assert.equal(catalog.resource(group, 'gears'), before)
  assert.deepEqual([before?.terminating, dropped], [true, []])
  const other = definitionOf('gears', 'Gear', stored.get(`gears.${group}`))
  other.spec.names.shortNames = ['g']
  put(other)
  await turns()
  assert.deepEqual(stored.get(`gears.${group}`)?.status.acceptedNames.shortNames, ['g'])
  definitions.stop()
})

for (const lost of [1, 2]) {
  test(`one that leaves and loses race ${lost} for its status is processed again`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let races = 0
    const { definitions, put, stored, reports } = await serving({
      update({ metadata }) {
        if (metadata.deletionTimestamp && ++races === lost)
          throw conflict({ group: 'apiextensions.k8s.io', plural: 'x' }, 'gears', 'modified')
      },
    })
    put(definitionOf('gears', 'Gear'))
    await turns()
    const { status, metadata } = stored.get(`gears.${group}`) as KubeObject
    const leaving = { deletionTimestamp: 'now', finalizers: [cleanupFinalizer] }
    put(definitionOf('gears', 'Gear', { status, metadata: { ...metadata, ...leaving } }))
    await turns()
    assert.deepEqual([races >= lost, [...stored.keys()]], [true, [`gears.${group}`]])
    t.mock.timers.tick(1000)
    await turns()
    assert.deepEqual([...stored.keys()], [])
    assert.deepEqual(reports, [])
    definitions.stop()
  })
}
