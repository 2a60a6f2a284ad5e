/**
 * Watches that start before the history in memory (a hundred events here): the store's history has
 * the rest.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import { RevisionSetBack, type Storage } from '#storage/storage.ts'
import type { Kind } from '#kinds/kind.ts'
import { watcherQueueLengthMax } from '#watchcache/watcher.ts'
import { type Fixture, refusalOf, startVerbs } from './fixture.suite.ts'
import type { Watch } from './watch.ts'

const verbs: Fixture = await startVerbs()
after(() => verbs.stop())

interface Told {
  readonly what: string
  readonly revision: number
}

/** Takes events of a watch until `count` arrived; a surplus shows after a moment. */
async function reported({ watcher }: Watch, count: number): Promise<Told[]> {
  const all: Told[] = []
  await until(`${count} events`, () => {
    for (const { type, event } of watcher.take()) {
      const entry = type === 'DELETED' ? event.previous : event.entry
      all.push({ what: `${type} ${entry?.name}`, revision: event.revision })
    }
    return all.length >= count
  })
  return all
}

const write = (name: string, side: string) =>
  verbs.create('configmaps', { metadata: { name, labels: { side } } })
const relabel = (name: string, side: string) =>
  verbs.patch('configmaps', name, 'merge', { metadata: { labels: { side } } })

const started = Number((await write('before', 'left')).metadata.resourceVersion)
await relabel('before', 'right')
await write('gone', 'left')
await verbs.remove('configmaps', 'gone')
// Many more changes than memory keeps, of this kind and of another.
for (let i = 0; i < 150; i++) {
  await write(`c${i}`, i % 2 === 0 ? 'left' : 'right')
  await verbs.create('secrets', { metadata: { name: `s${i}` } })
}
await verbs.remove('configmaps', 'c0')
await verbs.settled()
const created = Array.from({ length: 150 }, (_, i) => `ADDED c${i}`)

const cases: [query: string, expected: string[]][] = [
  ['', ['MODIFIED before', 'ADDED gone', 'DELETED gone', ...created, 'DELETED c0']],
  [
    '&labelSelector=side=left',
    [
      'DELETED before',
      'ADDED gone',
      'DELETED gone',
      ...created.filter((_, i) => i % 2 === 0),
      'DELETED c0',
    ],
  ],
  ['&labelSelector=side=right', ['ADDED before', ...created.filter((_, i) => i % 2 === 1)]],
  ['&fieldSelector=metadata.name=c0', ['ADDED c0', 'DELETED c0']],
]
for (const [query, expected] of cases) {
  test(`a watch from before memory begins receives everything since: ${query || 'all'}`, async () => {
    const watch = await verbs.watch('configmaps', `resourceVersion=${started}${query}`)
    const got = await reported(watch, expected.length)
    assert.deepEqual(
      got.map(({ what }) => what),
      expected,
    )
    assert.deepEqual(
      got,
      got.toSorted((a, b) => a.revision - b.revision),
    )
    assert.ok(watch.progress() >= (got.at(-1)?.revision as number))
    watch.stop()
  })
}

test('changes during a catch-up are delivered once and in order, and so are later ones', async () => {
  const watch = await verbs.watch('configmaps', `resourceVersion=${started}`)
  const writing = (async () => {
    for (let i = 0; i < 50; i++) await write(`during${i}`, 'left')
  })()
  const names = Array.from({ length: 50 }, (_, i) => `ADDED during${i}`)
  const first = await reported(watch, 154 + 50)
  await writing
  await write('live', 'left')
  const all = [...first, ...(await reported(watch, 1))].map(({ what }) => what)
  assert.deepEqual(all.slice(-51), [...names, 'ADDED live'])
  assert.equal(new Set(all).size, all.length)
  assert.equal(all.length, 154 + 51)
  watch.stop()
  await write('after', 'left')
  assert.deepEqual(await reported(watch, 0), [])
})

test('a watch from a future version gets only later changes', async () => {
  const { revision } = await verbs.list('configmaps', 'limit=1')
  const watch = await verbs.watch('configmaps', `resourceVersion=${revision + 2}`)
  assert.equal(watch.progress(), revision + 2, 'it never says less than its client knows')
  for (const name of ['future1', 'future2', 'future3', 'future4']) await write(name, 'left')
  assert.deepEqual(
    (await reported(watch, 2)).map(({ what }) => what),
    ['ADDED future3', 'ADDED future4'],
  )
  assert.equal(watch.progress(), revision + 4)
  watch.stop()
})

test('more events than the queue holds are delivered as the client reads, even if memory has them all', async () => {
  const busy = await startVerbs(createMemoryStorage(), 100_000)
  const count = watcherQueueLengthMax + 1
  const { revision } = await busy.list('configmaps')
  const put = (i: number) => {
    const metadata = { name: `m${i}`, namespace: 'default' }
    const bytes = Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata }))
    return busy.storage.put(`/registry/configmaps/default/m${i}`, bytes, { ifRevision: 0 })
  }
  await Promise.all(Array.from({ length: count }, (_, i) => put(i)))
  await busy.settled()
  const watch = await busy.watch('configmaps', `resourceVersion=${revision}`)
  const revisions = (await reported(watch, count)).map((one) => one.revision)
  assert.deepEqual(
    revisions,
    revisions.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(revisions).size, count)
  assert.ok(!watch.watcher.ended)
  watch.stop()
  await busy.stop()
})

test('a slow client delays its own catch-up, not the server', async () => {
  const watch = await verbs.watch('configmaps', `resourceVersion=${started}`)
  await sleep(50)
  assert.ok(!watch.watcher.ended)
  watch.stop()
  assert.ok(watch.watcher.ended)
})

test('a watch from a compacted version is 410', async () => {
  await verbs.storage.compact(started + 1)
  const refused = verbs.watch('configmaps', `resourceVersion=${started}`)
  assert.equal(await refusalOf(refused), '410 Expired')
  const kept = await verbs.watch('configmaps', `resourceVersion=${started + 1}`)
  const [next] = await reported(kept, 1)
  assert.equal(next.what, 'ADDED gone')
  kept.stop()
})

test('changes from before the definition are delivered if the store has them', async () => {
  const own = await startVerbs()
  const write = () => own.create('configmaps', { metadata: { generateName: 'a' } })
  const from = (await write()).metadata.resourceVersion
  const since = (await write()).metadata.resourceVersion
  const { resource } = own.server.catalog.find('', 'v1', 'configmaps') as Kind
  for (const [readsFromMemory, expected] of [
    [true, '410 Expired'],
    [false, 'none'],
  ] as const) {
    Object.assign(resource, { since: Number(since) })
    Object.assign(own.server, { readsFromMemory: () => readsFromMemory })
    own.server.cache.drop(resource)
    const begun = own.watch('configmaps', `resourceVersion=${from}`)
    assert.equal(await refusalOf(begun.then((watch) => watch.stop())), expected)
  }
  await own.stop()
})

test('progress is never ahead of events', async () => {
  const own = await startVerbs()
  try {
    const client = await own.watch('configmaps', 'resourceVersion=0&watch=1')
    const create = own.create('configmaps', { metadata: { name: 'a' } })
    const before: number[] = []
    let reported: number | undefined
    while (reported === undefined && before.length < 10_000) {
      const progress = client.progress()
      reported = client.watcher.take()[0]?.event.revision
      if (reported === undefined) before.push(progress)
      await Promise.resolve()
    }
    assert.equal(reported, Number((await create).metadata.resourceVersion))
    assert.ok(before.length > 0 && Math.max(...before) < (reported as number))
    client.stop()
  } finally {
    await own.stop()
  }
})

test('a watch from a version that a restored store has discarded must list again', async () => {
  const storage: Storage = createMemoryStorage()
  const setBack = new AbortController()
  const setBackHeard = Promise.withResolvers<void>()
  let undone = 0
  const older: Storage = new Proxy(storage, {
    get(_, name: keyof Storage) {
      if (name === 'currentRevision') return async () => (await storage.currentRevision()) - undone
      if (name === 'list') {
        return async (...requested: Parameters<Storage['list']>) => {
          if (requested[0].start.includes('/secrets/')) await setBackHeard.promise
          return storage.list(...requested)
        }
      }
      if (name !== 'changes') return storage[name]!.bind(storage)
      return async function* (options: Parameters<Storage['changes']>[0]) {
        const signal = AbortSignal.any([options.signal, setBack.signal])
        yield* storage.changes(undone === 0 ? { ...options, signal } : options)
        if (!options.signal.aborted) throw new RevisionSetBack(1, 2)
      }
    },
  })
  const one = await startVerbs(older)
  for (const name of ['a', 'b', 'c']) await one.create('configmaps', { metadata: { name } })
  await one.settled()
  const watch = await one.watch('configmaps')
  const last = one.server.cache.freshness.revision
  const begun = refusalOf(one.watch('secrets', `resourceVersion=${last}`))
  undone = 2
  setBack.abort()
  await until('the watch to end', () => watch.watcher.ended)
  await until('it to be known', () => one.server.cache.isUndone(last))
  setBackHeard.resolve()
  assert.equal(await begun, '410 Expired', 'one that waited for its picture meanwhile')
  watch.stop()
  const again = (from: number) => one.watch('configmaps', `resourceVersion=${from}`)
  assert.equal(await refusalOf(again(last)), '410 Expired')
  ;(await again(last - 2)).stop()
  ;(await again(last + 1)).stop()
  await one.stop()
})
