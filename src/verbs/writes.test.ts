/** Create, update, patch, apply and delete together: the life of an object. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { processorClock } from '#base/processor-time.fixture.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { parseListOptions } from '#api/list-options.ts'
import { until } from '#base/until.fixture.ts'
import type { Storage } from '#storage/storage.ts'
import { overlaid } from '#watchcache/picture.suite.ts'
import { customResource } from '#kinds/custom.ts'
import type { Type } from '#schema/type.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { deleteCollection } from './delete-collection.ts'
import { deleteOptionsFrom } from './delete-options.ts'
import { type Fixture, refusalOf, startVerbs } from './fixture.suite.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { update } from './update.ts'

let verbs: Fixture
before(async () => {
  verbs = await startVerbs()
})
after(() => verbs.stop())

const messageOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

test("the server sets uid, time and version, and ignores the client's", async () => {
  const made = await verbs.create('configmaps', {
    metadata: {
      name: 'stamped',
      uid: 'mine',
      creationTimestamp: '2000-01-01T00:00:00Z',
      selfLink: '/x',
      deletionTimestamp: '2000-01-01T00:00:00Z',
    },
  })
  const { uid, creationTimestamp, selfLink, deletionTimestamp, namespace } = made.metadata
  assert.notEqual(uid, 'mine')
  assert.ok(Date.now() - Date.parse(creationTimestamp as string) < 60_000)
  assert.deepEqual([selfLink, deletionTimestamp, namespace], [undefined, undefined, 'default'])
})

test('rejected creates', async () => {
  await verbs.create('configmaps', { metadata: { name: 'taken' } })
  const cases: [object: object, expected: string][] = [
    [{ metadata: { name: 'taken' } }, '409 AlreadyExists'],
    [{ metadata: { name: 'taken', generateName: 'x' } }, '500 ServerTimeout'],
    [{ metadata: { name: 'Not Valid' } }, '422 Invalid'],
    [{ metadata: {} }, '422 Invalid'],
    [{ metadata: { name: 'v', resourceVersion: '1' } }, '400 BadRequest'],
    [{ metadata: { name: 'n', namespace: 'other' } }, '400 BadRequest'],
    [{ kind: 'Secret', metadata: { name: 'k' } }, '400 BadRequest'],
    [{ apiVersion: 'v2', metadata: { name: 'k' } }, '400 BadRequest'],
    [{ metadata: { name: 'l', labels: { 'a b': 'c' } } }, '422 Invalid'],
  ]
  for (const [object, expected] of cases) {
    assert.equal(
      await refusalOf(verbs.create('configmaps', object)),
      expected,
      JSON.stringify(object),
    )
  }
})

test('a generated name that exists is replaced by another', async () => {
  const names = ['aaaaa', 'aaaaa', 'aaaaa', 'bbbbb']
  const server = { ...verbs.server, randomSuffix: () => names.shift() ?? 'aaaaa' }
  const { create } = await import('./create.ts')
  const make = () =>
    create(server, verbs.request(verbs.target('configmaps'), { metadata: { generateName: 'g-' } }))
  const nameOf = (answer: Awaited<ReturnType<typeof make>>) =>
    answer.is === 'object' ? answer.view.name : ''
  assert.equal(nameOf(await make()), 'g-aaaaa')
  assert.equal(nameOf(await make()), 'g-bbbbb')
  assert.equal(await refusalOf(make()), '500 ServerTimeout')
})

const takenNames: [release: number, refusal: string][] = [
  [22, '500 ServerTimeout'],
  [23, '409 AlreadyExists'],
]
for (const [release, refusal] of takenNames)
  test(`1.${release}: all names of a prefix are taken`, async () => {
    const newer = await startVerbs(undefined, undefined, release)
    const server = { ...newer.server, randomSuffix: () => 'same' }
    const { create } = await import('./create.ts')
    const request = () =>
      newer.request(newer.target('configmaps'), { metadata: { generateName: 'g-' } })
    await create(server, request())
    assert.equal(await refusalOf(create(server, request())), refusal)
    await newer.stop()
  })

test('a dry run returns the result and stores nothing', async () => {
  const made = await verbs.create('configmaps', { metadata: { name: 'dry' } }, { dryRun: true })
  assert.equal(made.metadata.resourceVersion, undefined)
  assert.equal(await refusalOf(verbs.get('configmaps', 'dry')), '404 NotFound')
  const kept = await verbs.create('configmaps', { metadata: { name: 'kept' }, data: { a: '1' } })
  await verbs.remove('configmaps', 'kept', { dryRun: ['All'] })
  assert.deepEqual(await verbs.get('configmaps', 'kept'), kept)
})

test('an update requires the uid that it names, even if no object exists', async () => {
  await verbs.create('configmaps', { metadata: { name: 'known' } })
  for (const [plural, name, why] of [
    [
      'configmaps',
      'known',
      /Key: \/registry\/configmaps\/default\/known, .* in object meta: [0-9a-f-]{36}$/,
    ],
    ['configmaps', 'unknown', /StorageError: invalid object, Code: 4, .*UID in object meta: $/],
    ['services', 'unknown', /services "unknown" not found/],
  ] as const) {
    assert.match(await messageOf(verbs.update(plural, { metadata: { name, uid: 'u' } })), why)
  }
})

test('an update requires the version that it names, and overwrites any version if it names none', async () => {
  const first = await verbs.create('configmaps', { metadata: { name: 'u' }, data: { n: '1' } })
  const second = await verbs.update('configmaps', { ...first, data: { n: '2' } })
  assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion)
  assert.equal(second.metadata.uid, first.metadata.uid)
  assert.equal(
    await refusalOf(verbs.update('configmaps', { ...first, data: { n: '3' } })),
    '409 Conflict',
  )
  const bare = { metadata: { name: 'u' }, data: { n: '4' } } as KubeObject
  assert.equal((await verbs.update('configmaps', bare)).data?.n, '4')
  const again = await verbs.get('configmaps', 'u')
  assert.equal(
    (await verbs.update('configmaps', again)).metadata.resourceVersion,
    again.metadata.resourceVersion,
  )
  const other = { ...bare, metadata: { name: 'u', uid: 'other' } } as KubeObject
  assert.equal(await refusalOf(verbs.update('configmaps', other)), '409 Conflict')
  assert.equal(
    await refusalOf(verbs.update('configmaps', { metadata: { name: 'absent' } } as KubeObject)),
    '404 NotFound',
  )
})

test('concurrent writers lose no write', async () => {
  await verbs.create('configmaps', { metadata: { name: 'race' } })
  const writers = Array.from({ length: 40 }, (_, i) =>
    verbs.patch('configmaps', 'race', 'merge', { data: { [`k${i}`]: 'v' } }),
  )
  await Promise.all(writers)
  await Promise.all(
    writers.map((_, i) =>
      verbs.patch('configmaps', 'race', 'apply', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { annotations: { [`a${i}`]: 'v' } },
      }),
    ),
  )
  const { data, metadata } = await verbs.get('configmaps', 'race')
  assert.equal(
    Object.keys(metadata.annotations ?? {}).length,
    1,
    'what one manager applies takes the place of what it applied',
  )
  assert.equal(Object.keys(data as object).length, 40)
})

test('all patch formats', async () => {
  await verbs.create('configmaps', { metadata: { name: 'p' }, data: { a: '1', b: '2' } })
  const merged = await verbs.patch('configmaps', 'p', 'merge', { data: { a: null, c: '3' } })
  assert.deepEqual(merged.data, { b: '2', c: '3' })
  const json = await verbs.patch('configmaps', 'p', 'json', [
    { op: 'move', from: '/data/b', path: '/data/d' },
  ])
  assert.deepEqual(json.data, { c: '3', d: '2' })
  const strategic = await verbs.patch('configmaps', 'p', 'strategic', {
    metadata: { finalizers: ['a.b/c'] },
  })
  assert.deepEqual(strategic.metadata.finalizers, ['a.b/c'])
  const renamed = verbs.patch('configmaps', 'p', 'merge', { metadata: { name: 'q' } })
  assert.equal(await refusalOf(renamed), '400 BadRequest')
  assert.equal(await refusalOf(verbs.patch('configmaps', 'absent', 'merge', {})), '404 NotFound')
  const outdated = verbs.patch('configmaps', 'p', 'merge', { metadata: { resourceVersion: '1' } })
  assert.equal(await refusalOf(outdated), '409 Conflict')
  const applied = await verbs.patch('configmaps', 'made', 'apply', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'made' },
    data: { x: 'y' },
  })
  assert.deepEqual(applied.data, { x: 'y' })
})

test('a generation of any 64 bits increases when its object is marked', async () => {
  const generation = 8071137005907523419n as unknown as number
  const metadata = { name: 'far', generation, finalizers: ['a.example.com/f'] }
  await verbs.create('configmaps', { metadata })
  await verbs.remove('configmaps', 'far')
  const { metadata: marked } = await verbs.get('configmaps', 'far')
  assert.equal(String(marked.generation), '8071137005907523420')
})

test('finalizers hold an object until the last one is removed, and none can be added during deletion', async () => {
  await verbs.create('configmaps', { metadata: { name: 'f', finalizers: ['a.b/one', 'a.b/two'] } })
  const marked = await verbs.remove('configmaps', 'f')
  assert.ok(marked.metadata.deletionTimestamp)
  const first = marked.metadata.deletionTimestamp
  assert.equal((await verbs.remove('configmaps', 'f')).metadata.deletionTimestamp, first)
  const grown = verbs.patch('configmaps', 'f', 'merge', {
    metadata: { finalizers: ['a.b/one', 'a.b/three'] },
  })
  assert.match(await messageOf(grown), /no new finalizers can be added/)
  await verbs.patch('configmaps', 'f', 'merge', { metadata: { finalizers: ['a.b/two'] } })
  assert.equal(
    await refusalOf(verbs.create('configmaps', { metadata: { name: 'f' } })),
    '409 AlreadyExists',
  )
  await verbs.patch('configmaps', 'f', 'merge', { metadata: { finalizers: null } })
  assert.equal(await refusalOf(verbs.get('configmaps', 'f')), '404 NotFound')
})

test('preconditions, propagation policies and grace periods of deletions', async () => {
  const made = await verbs.create('configmaps', { metadata: { name: 'd' } })
  assert.equal(
    await refusalOf(verbs.remove('configmaps', 'd', { preconditions: { uid: 'other' } })),
    '409 Conflict',
  )
  assert.equal(
    await refusalOf(verbs.remove('configmaps', 'd', { preconditions: { resourceVersion: '1' } })),
    '409 Conflict',
  )
  const { uid, resourceVersion } = made.metadata
  const done = await verbs.remove('configmaps', 'd', { preconditions: { uid, resourceVersion } })
  assert.deepEqual([done.kind, done.status], ['Status', 'Success'])
  assert.equal(await refusalOf(verbs.remove('configmaps', 'd')), '404 NotFound')
  for (const [propagationPolicy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ]) {
    await verbs.create('configmaps', { metadata: { name: 'policy' } })
    const held = await verbs.remove('configmaps', 'policy', { propagationPolicy })
    assert.deepEqual(held.metadata.finalizers, [finalizer])
    await verbs.patch('configmaps', 'policy', 'merge', { metadata: { finalizers: null } })
  }
  // The caller does not know the version after the deletion removed its own finalizers. Without a
  // version the write succeeds.
  const orphan = await verbs.create('configmaps', {
    metadata: { name: 'o', finalizers: ['orphan'] },
  })
  const letGo = { propagationPolicy: 'Background' }
  const { resourceVersion: version } = orphan.metadata
  const named = { ...letGo, preconditions: { resourceVersion: version } }
  assert.equal(await refusalOf(verbs.remove('configmaps', 'o', named)), '409 Conflict')
  await verbs.remove('configmaps', 'o', letGo)
  assert.equal(await refusalOf(verbs.get('configmaps', 'o')), '404 NotFound')
  const spec = {
    nodeName: 'n',
    containers: [{ name: 'c', image: 'i' }],
    terminationGracePeriodSeconds: 30,
  }
  await verbs.create('pods', { metadata: { name: 'graceful', generation: 3 }, spec })
  const leaving = await verbs.remove('pods', 'graceful')
  assert.equal(leaving.metadata.deletionGracePeriodSeconds, 30)
  assert.equal(leaving.metadata.generation, 4)
  assert.equal(
    (await verbs.remove('pods', 'graceful', { gracePeriodSeconds: 5 })).metadata
      .deletionGracePeriodSeconds,
    5,
  )
  await verbs.remove('pods', 'graceful', { gracePeriodSeconds: 0 })
  assert.equal(await refusalOf(verbs.get('pods', 'graceful')), '404 NotFound')
})

test('a custom kind called Namespace is held only by the finalizers in its metadata', async () => {
  const { feature, release } = verbs.server
  const { type } = verbs.target('configmaps').kind
  assert.ok(type.is === 'struct')
  const names = { plural: 'namespaces', singular: 'namespace', kind: 'Namespace', listKind: 'List' }
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }
  const resource = customResource(
    {
      metadata: { name: 'namespaces.example.com', uid: 'u', generation: 1 },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
      status: { acceptedNames: names, conditions: [{ type: 'Established', status: 'True' }] },
    },
    {
      root: '/registry',
      release,
      feature,
      objectMeta: type.byName.get('metadata')?.type as Type,
      convertElsewhere: async (_definition, objects) => objects,
    },
  )
  verbs.server.catalog.add(resource)
  const [kind] = resource.kinds
  const at = (name: string) => ({ kind, namespace: 'default', name, subresource: '' })
  const body = {
    kind: 'Namespace',
    apiVersion: 'example.com/v1',
    metadata: { name: 'own', finalizers: ['example.com/x'] },
    spec: { finalizers: 'any' },
  }
  await create(verbs.server, verbs.request(at(''), body))
  const deleteOptions = deleteOptionsFrom({}, 22)
  await remove(verbs.server, { ...verbs.request(at('own')), deleteOptions })
  const patchBytes = Buffer.from('{"metadata":{"finalizers":null}}')
  await patch(verbs.server, { ...verbs.request(at('own')), patchType: 'merge', patchBytes })
  assert.equal(await refusalOf(get(verbs.server, at('own'), '')), '404 NotFound')
  verbs.server.catalog.remove(resource)
})

test('an object with a hundred thousand finalizers is deleted quickly', async () => {
  const finalizers = Array.from({ length: 100_000 }, (_, i) => `a.b/c${i}`)
  await verbs.create('configmaps', { metadata: { name: 'held', finalizers } })
  const spentMs = processorClock()
  const { metadata } = await verbs.remove('configmaps', 'held')
  assert.ok(spentMs() < 3000)
  assert.deepEqual(metadata.finalizers, finalizers)
  await verbs.patch('configmaps', 'held', 'merge', { metadata: { finalizers: null } })
})

test('a deletion succeeds despite concurrent changes of its object', async () => {
  await verbs.create('configmaps', { metadata: { name: 'busy' } })
  let changes = 0
  const storage = overlaid(verbs.storage, {
    async delete(key, condition) {
      if (changes++ < 50)
        await verbs.patch('configmaps', 'busy', 'merge', { data: { n: `${changes}` } })
      return verbs.storage.delete(key, condition)
    },
  })
  const request = verbs.request(verbs.target('configmaps', 'busy'))
  await remove(
    { ...verbs.server, storage },
    { ...request, deleteOptions: deleteOptionsFrom({}, 22) },
  )
  assert.equal(await refusalOf(verbs.get('configmaps', 'busy')), '404 NotFound')
})

const graces: [own: bigint, requested: number | undefined, ends: number][] = [
  [30n, undefined, 30],
  [30n, 253_402_300_800, -4_852_116_232],
  // The largest number of seconds overflows to -1 in 64-bit nanoseconds.
  [2n ** 63n - 1n, undefined, -1],
  [2n ** 53n, undefined, 4_611_686_018],
  [30n, Number.MAX_SAFE_INTEGER, 4_611_686_017],
]
for (const [own, requested, ends] of graces) {
  test(`a pod with ${own} seconds of grace, deleted with ${requested}, can be deleted`, async () => {
    const spec = {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i' }],
      terminationGracePeriodSeconds: own,
    }
    await verbs.create('pods', { metadata: { name: 'old' }, spec })
    const { metadata } = await verbs.remove('pods', 'old', { gracePeriodSeconds: requested })
    const { deletionTimestamp = '', deletionGracePeriodSeconds } = metadata
    assert.match(deletionTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const seconds = (Date.parse(deletionTimestamp) - Date.now()) / 1000
    assert.ok(Math.abs(seconds - ends) < 60, `${seconds}`)
    assert.equal(BigInt(deletionGracePeriodSeconds ?? 0), BigInt(requested ?? own))
    const sooner = await verbs.remove('pods', 'old', { gracePeriodSeconds: 5 })
    const left = Date.parse(sooner.metadata.deletionTimestamp as string) - Date.now()
    assert.ok(Math.abs(left / 1000 - 5) < 60, `${left}`)
    await verbs.remove('pods', 'old', { gracePeriodSeconds: 0 })
  })
}

test('a deletion succeeds if another deletion removes the marked pod first', async () => {
  await verbs.create('pods', {
    metadata: { name: 'raced' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  const { storage } = verbs
  const put: Storage['put'] = async (key, bytes, options) => {
    const outcome = await storage.put(key, bytes, options)
    if (outcome.ok) await storage.delete(key, { ifRevision: outcome.revision })
    return outcome
  }
  const server = { ...verbs.server, storage: overlaid(storage, { put }) }
  const request = {
    ...verbs.request(verbs.target('pods', 'raced')),
    deleteOptions: deleteOptionsFrom({}, 22),
  }
  const answer = await remove(server, request)
  assert.ok(answer.is === 'object' && answer.view.name === 'raced')
  assert.equal(answer.view.revision, undefined)
  assert.equal(await refusalOf(remove(server, request)), '404 NotFound')
})

test('deletecollection deletes the selected objects', async () => {
  for (let i = 0; i < 40; i++) {
    await verbs.create('secrets', { metadata: { name: `s${i}`, labels: { odd: String(i % 2) } } })
  }
  const query = new URLSearchParams('labelSelector=odd=1&fieldSelector=metadata.name!=s1')
  const request = {
    ...verbs.request(verbs.target('secrets')),
    deleteOptions: deleteOptionsFrom({}, 22),
  }
  const answer = await deleteCollection(verbs.server, request, parseListOptions(query, 22))
  assert.equal(answer.is === 'list' && answer.entries.length, 19)
  const left = await verbs.list('secrets')
  assert.equal(left.entries.length, 21)
})

for (const [deletionsAtOnce, mostAtOnce] of [
  [undefined, 32],
  [1, 1],
  [5, 5],
] as const)
  test(`of a collection ${deletionsAtOnce ?? 'no number'} are deleted at once`, async () => {
    const label = `of-${mostAtOnce}`
    for (let i = 0; i < 40; i++)
      await verbs.create('secrets', { metadata: { name: `${label}-${i}`, labels: { label } } })
    let [running, most] = [0, 0]
    const admission = {
      mutate: () => {},
      validate: async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
      },
    }
    const server = {
      ...verbs.server,
      admission: admission as never,
      ...(deletionsAtOnce !== undefined && { deletionsAtOnce }),
    }
    const request = {
      ...verbs.request(verbs.target('secrets')),
      deleteOptions: deleteOptionsFrom({}, 22),
    }
    const query = new URLSearchParams(`labelSelector=label=${label}`)
    await deleteCollection(server, request, parseListOptions(query, 22))
    assert.equal(most, mostAtOnce)
  })

test('admission gets no name for deletecollection, and the name for a single deletion', async () => {
  await verbs.create('configmaps', { metadata: { name: 'alone', labels: { gone: 'yes' } } })
  await verbs.create('configmaps', { metadata: { name: 'with', labels: { gone: 'yes' } } })
  const heard: string[][] = []
  const admission = {
    mutate: () => {},
    validate: ({ name, old }: { name: string; old: KubeObject | undefined }) => {
      heard.push([name, old?.metadata.name ?? ''])
    },
  }
  const server = { ...verbs.server, admission: admission as never }
  const deleteOptions = deleteOptionsFrom({}, 22)
  const one = { ...verbs.request(verbs.target('configmaps', 'alone')), deleteOptions }
  await remove(server, one)
  const all = { ...verbs.request(verbs.target('configmaps')), deleteOptions }
  await deleteCollection(
    server,
    all,
    parseListOptions(new URLSearchParams('labelSelector=gone'), 22),
  )
  assert.deepEqual(heard, [
    ['alone', 'alone'],
    ['', 'with'],
  ])
})

test('before 1.19 an update calls plugins before it reports that the object is missing', async () => {
  const cases: [release: number, plural: string, requested: string[]][] = [
    [18, 'configmaps', ['CREATE none']],
    // Read before all others.
    [18, 'services', []],
    [19, 'configmaps', []],
  ]
  for (const [release, plural, expected] of cases) {
    const requested: string[] = []
    const admission = {
      mutate: async (of: { operation: string; name: string }) =>
        void requested.push(`${of.operation} ${of.name}`),
    }
    const server = { ...verbs.server, release, admission: admission as never }
    const request = verbs.request(verbs.target(plural, 'none'), { metadata: { name: 'none' } })
    assert.match(await messageOf(update(server, request)), /"none" not found$/)
    assert.deepEqual(requested, expected, `${release} ${plural}`)
  }
})

test('pages are consistent during writes, and have the remaining count', async () => {
  for (let i = 0; i < 10; i++) await verbs.create('endpoints', { metadata: { name: `e${i}` } })
  const first = await verbs.list('endpoints', 'limit=4')
  assert.deepEqual([first.entries.length, first.remaining], [4, 6])
  await verbs.remove('endpoints', 'e5')
  await verbs.create('endpoints', { metadata: { name: 'e55' } })
  const second = await verbs.list('endpoints', `limit=4&continue=${first.continueToken}`)
  assert.deepEqual(
    second.entries.map(({ name }) => name),
    ['e4', 'e5', 'e6', 'e7'],
  )
  assert.deepEqual([second.revision, second.remaining], [first.revision, 2])
  const last = await verbs.list('endpoints', `limit=4&continue=${second.continueToken}`)
  assert.deepEqual(
    last.entries.map(({ name }) => name),
    ['e8', 'e9'],
  )
  assert.deepEqual([last.continueToken, last.remaining], ['', undefined])
  const selected = await verbs.list('endpoints', 'limit=2&fieldSelector=metadata.name!=e0')
  assert.equal(selected.remaining, undefined, 'nobody knows how many of the rest match')
  const uncounted = { ...verbs.server, feature: (gate: string) => gate !== 'RemainingItemCount' }
  const options = parseListOptions(new URLSearchParams('limit=4'), 22)
  const page = await list(uncounted, verbs.target('endpoints'), options)
  assert.ok(page.is === 'list' && page.continueToken !== '' && page.remaining === undefined)
})

test('followers get the difference when the cache is reloaded', async () => {
  const own = await startVerbs()
  const seen = new Map<string, string>()
  const stop = await own.server.reader.follow('', 'configmaps', {
    changed: ({ metadata, data }) => void seen.set(metadata.name as string, data?.n ?? ''),
    deleted: ({ metadata }) => void seen.delete(metadata.name as string),
  })
  await own.create('configmaps', { metadata: { name: 'a' }, data: { n: '1' } })
  await own.create('configmaps', { metadata: { name: 'b' }, data: { n: '1' } })
  await own.settled()
  own.server.cache.drop(own.target('configmaps').kind.resource)
  await own.remove('configmaps', 'a')
  await own.patch('configmaps', 'b', 'merge', { data: { n: '2' } })
  await own.create('configmaps', { metadata: { name: 'c' }, data: { n: '3' } })
  await until('what was written', () => !seen.has('a') && seen.get('b') === '2' && seen.has('c'))
  assert.deepEqual([...seen].sort(), [
    ['b', '2'],
    ['c', '3'],
  ])
  stop()
  await own.stop()
})

test('an update of ephemeral containers may omit the uid', async () => {
  const containers = [
    { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' },
  ]
  const made = await verbs.create('pods', { metadata: { name: 'debugged' }, spec: { containers } })
  const metadata = { name: 'debugged' } as KubeObject['metadata']
  const next = { metadata, spec: { ...made.spec, ephemeralContainers: [] } }
  const { uid, resourceVersion } = (await verbs.update('pods', next, 'ephemeralcontainers'))
    .metadata
  assert.deepEqual([uid, resourceVersion], [made.metadata.uid, made.metadata.resourceVersion])
})
