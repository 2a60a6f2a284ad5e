import assert from 'node:assert/strict'
import test, { mock } from 'node:test'
import { until } from '#base/until.fixture.ts'
import type { Resource } from '#kinds/kind.ts'
import { createMemoryStorage } from '#storage/memory/memory.ts'
import {
  type Change,
  RevisionCompacted,
  RevisionSetBack,
  type Storage,
  Unreadable,
} from '#storage/storage.ts'
import { overlaid, parse, plainResource, root, settle, thing } from './picture.suite.ts'
import type { ResourceCache } from './resource-cache.ts'
import { WatchCache } from './watch-cache.ts'
import { Watcher } from './watcher.ts'

interface Fixture {
  storage: Storage
  cache: WatchCache
  reports: string[]
  put(plural: string, name: string, labels?: Record<string, string>): Promise<number>
  drop(plural: string, name: string): Promise<number>
}

async function start(storage: Storage = createMemoryStorage()): Promise<Fixture> {
  const reports: string[] = []
  const cache = new WatchCache(
    {
      storage,
      parse,
      clock: { now: () => 0 },
      limits: () => ({ eventsMax: 1000, ageMsMax: 1e9 }),
      root,
      report: (message) => reports.push(message),
    },
    await storage.currentRevision(),
  )
  cache.start()
  const keyOf = (plural: string, name: string) => `${root}/${plural}/a/${name}`
  const written = (outcome: Awaited<ReturnType<Storage['put']>>) => {
    assert.ok(outcome.ok)
    return outcome.revision
  }
  const last = async (key: string) => (await storage.get(key)).value?.revision ?? 0
  return {
    storage,
    cache,
    reports,
    async put(plural, name, labels) {
      const key = keyOf(plural, name)
      return written(
        await storage.put(key, thing('a', name, labels), { ifRevision: await last(key) }),
      )
    },
    async drop(plural, name) {
      const key = keyOf(plural, name)
      return written(await storage.delete(key, { ifRevision: await last(key) }))
    },
  }
}

const things = plainResource('things')

const namesIn = (cache: ResourceCache) => {
  const names: string[] = []
  cache.visit(`${root}/things/`, `${root}/things0`, ({ name }) => void names.push(name))
  return names.join(' ')
}

test('writes arrive in the cache in order, each once', async () => {
  const { cache, put, drop } = await start()
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  await put('things', 'x')
  await put('others', 'x')
  await put('things', 'y')
  const last = await drop('things', 'x')
  assert.equal(await cache.freshness.reach(last, 1000), true)
  assert.equal(namesIn(picture), 'y')
  assert.deepEqual(
    watcher.take().map(({ type, event }) => `${type} ${(event.entry ?? event.previous)?.name}`),
    ['ADDED x', 'ADDED y', 'DELETED x'],
  )
  assert.equal(cache.of(things), picture, 'loaded once')
  await cache.close()
})

test('a key beside all resources is not taken for an object of a similar resource', async () => {
  const { storage, cache, put } = await start()
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  for (const key of [`${root}/thingsX`, `${root}/`, `${root}/x.yz`])
    await storage.put(key, thing('a', 'x'), { ifRevision: 0 })
  assert.equal(await cache.freshness.reach(await put('things', 'y'), 1000), true)
  assert.deepEqual(
    watcher.take().map(({ event }) => event.entry?.name),
    ['y'],
  )
  await cache.close()
})

test('old snapshots are evicted as long as the cache is open', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  const { cache, put } = await start()
  const picture = (await cache.of(things)) as ResourceCache
  const looks = mock.method(picture, 'forgetSnapshots').mock
  const last = await put('things', 'x')
  assert.equal(await cache.freshness.reach(last, 1000), true)
  mock.timers.tick(60_000)
  assert.equal(looks.callCount(), 1)
  await cache.close()
  mock.timers.tick(60_000)
  assert.equal(looks.callCount(), 1)
  mock.timers.reset()
})

test('a resource that is loaded during writes misses and repeats nothing', async () => {
  const storage = createMemoryStorage()
  const slow = overlaid(storage, {
    async list(...args) {
      const read = await storage.list(...args)
      await settle()
      await settle()
      return read
    },
  })
  const { cache, put } = await start(slow)
  for (let i = 0; i < 1200; i++) await put('things', `old-${i}`)
  const loading = cache.of(things)
  const writing: Promise<number>[] = []
  for (let i = 0; i < 50; i++) {
    writing.push(put('things', `new-${i}`))
    await settle()
  }
  const picture = await loading
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  const from = cache.freshness.revision
  writing.push(put('things', 'last'))
  const last = Math.max(...(await Promise.all(writing)))
  assert.equal(await cache.freshness.reach(last, 1000), true)
  assert.equal(picture.size, 1251)
  const heard = watcher.take().map(({ event }) => event.revision)
  assert.deepEqual(
    heard,
    [...new Set(heard)].sort((a, b) => a - b),
  )
  assert.deepEqual(
    picture.history.after(from)?.map((event) => event.revision),
    heard,
  )
  await cache.close()
})

test('a watch may start shortly before the first use of its resource', async () => {
  const { cache, put, drop } = await start()
  const first = await put('things', 'x', { n: '1' })
  await put('things', 'x', { n: '2' })
  await put('others', 'z')
  await drop('things', 'x')
  const last = await put('others', 'z')
  await cache.freshness.reach(last, 1000)
  const picture = await cache.of(things)
  const events = picture.history.after(first) ?? []
  assert.deepEqual(
    events.map(({ entry, previous }) => [entry?.labels?.n, previous?.labels?.n]),
    [
      ['2', '1'],
      [undefined, '2'],
    ],
  )
  assert.equal(picture.size, 0)
  await cache.close()
})

test('the past is read only for resources that were written', async () => {
  const real = createMemoryStorage()
  let reads = 0
  const storage = overlaid(real, {
    changes(...args) {
      reads++
      return real.changes(...args)
    },
  })
  const { cache, put, drop } = await start(storage)
  const first = await put('others', 'z')
  await put('a.example.com/things', 'x')
  const last = await put('others', 'z')
  await cache.freshness.reach(last, 1000)
  const readsOf = async (resource: Resource) => {
    const before = reads
    const { history } = await cache.of(resource)
    return [reads - before, history.after(first)?.length]
  }
  assert.deepEqual(await readsOf(things), [0, 0])
  assert.deepEqual(await readsOf(plainResource('b.example.com/things')), [0, 0])
  assert.deepEqual(await readsOf(plainResource('a.example.com/things')), [1, 1])
  assert.deepEqual(await readsOf(plainResource('others')), [1, 1])
  await cache.freshness.reach(await put('things', 'x'), 1000)
  await cache.freshness.reach(await drop('things', 'x'), 1000)
  const defined = plainResource('things')
  assert.deepEqual(await readsOf(defined), [1, 2], 'defined anew')
  cache.drop(defined)
  assert.deepEqual(await readsOf(things), [1, 2], 'dropped')
  await cache.close()
})

test('a resource loads even if the store has compacted its past', async () => {
  const { cache, storage, put } = await start()
  await put('things', 'x')
  const last = await put('things', 'y')
  await cache.freshness.reach(last, 1000)
  await storage.compact(last)
  const picture = await cache.of(things)
  assert.equal(namesIn(picture), 'x y')
  assert.equal(picture.history.after(last - 1), undefined)
  assert.deepEqual(picture.history.after(last), [])
  await cache.close()
})

test('an unreadable object is reported, and is not treated as absent; others are served', async () => {
  const { cache, storage, put, reports } = await start()
  await storage.put(`${root}/things/a/broken`, Buffer.from('{'), { ifRevision: 0 })
  await put('things', 'x')
  const picture = await cache.of(things)
  assert.equal(namesIn(picture), 'x')
  await storage.put(`${root}/things/a/broken-too`, Buffer.from('nonsense'), { ifRevision: 0 })
  const last = await put('things', 'y')
  await cache.freshness.reach(last, 1000)
  assert.equal(namesIn(picture), 'x y')
  assert.equal(reports.length, 2)
  for (const name of ['broken', 'broken-too'])
    assert.throws(() => picture.requireReadable(`${root}/things/a/${name}`), Unreadable)
  picture.requireReadable(`${root}/things/a/x`)
  await cache.close()
})

/** A store whose feed ends when the test says so, like a lost connection. */
function breakable(): { storage: Storage; breakWith(error: Error, refusals?: number): void } {
  const real = createMemoryStorage()
  let stop = new AbortController()
  let reason: Error | undefined
  let refusals = 0
  const storage = overlaid(real, {
    currentRevision() {
      if (refusals-- > 0) throw new Error('away')
      return real.currentRevision()
    },
    async *changes(options) {
      const signal = AbortSignal.any([options.signal, stop.signal])
      yield* real.changes({ ...options, signal })
      if (options.signal.aborted) return
      stop = new AbortController()
      throw reason
    },
  })
  return {
    storage,
    breakWith(error, count = 0) {
      reason = error
      refusals = count
      stop.abort()
    },
  }
}

test('a broken feed is resumed where it ended', async () => {
  const { storage, breakWith } = breakable()
  const { cache, put, reports } = await start(storage)
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  await cache.freshness.reach(await put('things', 'x'), 1000)
  breakWith(new Error('connection lost'))
  const last = await put('things', 'y')
  assert.equal(await cache.freshness.reach(last, 3000), true)
  assert.equal(watcher.ended, false)
  assert.deepEqual(
    watcher.take().map(({ event }) => event.entry?.name),
    ['x', 'y'],
  )
  assert.deepEqual(reports, ['the feed of the store broke'])
  await cache.close()
})

test('a store that was reset is loaded again and followed from there', async () => {
  const older: Storage = createMemoryStorage()
  const newer: Storage = createMemoryStorage()
  let present: Storage = newer
  const swapped = new AbortController()
  const storage = new Proxy(newer, {
    get: (_, name: keyof Storage) => present[name]!.bind(present),
  })
  const { cache, put, reports } = await start(
    overlaid(storage, {
      async *changes(options) {
        const signal = AbortSignal.any([options.signal, swapped.signal])
        yield* present.changes(present === newer ? { ...options, signal } : options)
        if (!options.signal.aborted) throw new RevisionSetBack(1, 3)
      },
    }),
  )
  await put('things', 'x')
  await put('things', 'gone')
  const last = await put('things', 'gone-too')
  await cache.freshness.reach(last, 1000)
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  await older.put(`${root}/things/a/x`, thing('a', 'x'), { ifRevision: 0 })
  present = older
  swapped.abort()
  await until('the watch to end', () => watcher.ended)
  assert.equal(namesIn(await cache.of(things)), 'x')
  const undone = [last - 2, last - 1, last, last + 1].map((it) => cache.isUndone(it))
  assert.deepEqual(undone, [false, true, true, false])
  assert.equal(await cache.freshness.reach(await put('things', 'y'), 3000), true)
  assert.deepEqual([cache.isUndone(last - 1), cache.isUndone(last)], [false, true])
  assert.equal(namesIn(await cache.of(things)), 'x y')
  assert.deepEqual(reports, ['the feed of the store broke'])
  await cache.close()
})

test('if the store has compacted missed changes, watches end and readers get the current state', async () => {
  const { storage, breakWith } = breakable()
  const { cache, put } = await start(storage)
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  await put('things', 'x')
  // The store does not answer at first, and the missed changes are lost even so.
  breakWith(new RevisionCompacted(1), 1)
  const last = await put('things', 'y')
  assert.equal(await cache.freshness.reach(last, 3000), true, 'fresh without any further write')
  assert.equal(watcher.ended, true)
  const again = await cache.of(things)
  assert.notEqual(again, picture)
  assert.equal(namesIn(again), 'x y')
  const late = new Watcher('', undefined)
  picture.fanOut.add(late)
  assert.equal(late.ended, true, 'nobody waits at a picture that is no longer followed')
  const next = await put('things', 'z')
  assert.equal(await cache.freshness.reach(next, 3000), true)
  assert.equal(namesIn(again), 'x y z')
  await cache.close()
})

test("a restarted watch does not wait for another server's writes to other resources", async () => {
  const { storage, breakWith } = breakable()
  let elsewhere = 0
  const counted = overlaid(storage, {
    currentRevision: async () => (await storage.currentRevision()) + elsewhere,
    list: (range, { at, ...options } = {}) =>
      storage.list(range, at === undefined ? options : { ...options, at: at - elsewhere }),
  })
  const { cache, put } = await start(counted)
  await cache.freshness.reach(await put('things', 'x'), 1000)
  elsewhere = 1
  breakWith(new RevisionCompacted(1))
  await until('the feed to begin anew', () => cache.freshness.revision === 3)
  const picture = await Promise.race([cache.of(things), settle().then(settle).then(settle)])
  assert.equal(picture && namesIn(picture), 'x')
  await cache.close()
})

async function* inThrees(all: AsyncIterable<Change[]>): AsyncGenerator<Change[]> {
  const together: Change[] = []
  for await (const batch of all) {
    together.push(...batch)
    if (together.length >= 3) yield together.splice(0)
  }
}

test('a resource that is loaded during a batch gets the earlier changes of the batch', async () => {
  const real = createMemoryStorage()
  let isFeed = true
  const storage = overlaid(real, {
    changes(options) {
      const all = real.changes(options)
      if (!isFeed) return all
      isFeed = false
      return inThrees(all)
    },
  })
  const { cache, put } = await start(storage)
  for (const name of ['a', 'b']) await put('others', name)
  await cache.freshness.reach(await put('others', 'c'), 1000)
  const others = await cache.of(plainResource('others'))
  const loads: unknown[] = []
  const deliver = () => void loads.push(cache.of(things))
  others.fanOut.add({ namespace: '', matches: undefined, deliver, end() {} })
  await put('things', 'before')
  await put('others', 'x')
  await cache.freshness.reach(await put('things', 'after'), 1000)
  assert.equal(loads.length, 1)
  assert.equal(namesIn(await cache.of(things)), 'after before')
  await cache.close()
})

test('a resource that is evicted during loading rejects its waiters', async () => {
  const { cache, put } = await start()
  await put('things', 'x')
  const loading = cache.of(things)
  cache.drop(things as Resource)
  const picture = await loading
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  assert.equal(watcher.ended, true)
  await cache.close()
})

test('a write during the loading of an evicted resource is present after the next load', async () => {
  const real = createMemoryStorage()
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const storage = overlaid(real, {
    list: (range, options) => gate.then(() => real.list(range, options)),
  })
  const { cache, put } = await start(storage)
  await put('things', 'before')
  const dropped = cache.of(things)
  await cache.freshness.reach(await put('things', 'meanwhile'), 1000)
  cache.drop(things as Resource)
  open()
  await dropped
  assert.equal(namesIn(await cache.of(things)), 'before meanwhile')
  await cache.close()
})

test('closing ends every watch', async () => {
  const { cache } = await start()
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  picture.fanOut.add(watcher)
  assert.equal(cache.closed, false)
  await cache.close()
  assert.equal(watcher.ended, true)
  assert.equal(cache.closed, true)
})

test('an unreadable past is logged, and its watcher gets an error', async () => {
  const inner = createMemoryStorage()
  let isAway = false
  const changes: Storage['changes'] = (options) => {
    if (isAway) throw new Error('away')
    return inner.changes(options)
  }
  const { cache, put, reports } = await start(overlaid(inner, { changes }))
  const from = await put('things', 'x')
  const picture = await cache.of(things)
  const watcher = new Watcher('', undefined)
  isAway = true
  assert.ok(await cache.catchUp(picture, watcher, from))
  await settle()
  assert.deepEqual(
    [watcher.ended, reports],
    [true, ['the past of /registry/things cannot be read']],
  )
  await cache.close()
})

/** How a wait for the first object of `things` ends. */
const waits: [
  name: string,
  before: (fixture: Fixture) => Promise<unknown>,
  then: (fixture: Fixture, stop: AbortController) => unknown,
  order: string,
][] = [
  ['there is one', ({ put }) => put('things', 'x'), () => {}, 'done'],
  ['one is written', async () => {}, ({ put }) => put('things', 'x'), 'empty done'],
  [
    'one was deleted, one is written',
    async ({ put, drop }) => {
      await put('things', 'x')
      await drop('things', 'x')
    },
    ({ put }) => put('things', 'y'),
    'empty done',
  ],
  ['the reader stops', async () => {}, (_, stop) => stop.abort(), 'empty done'],
  ['the cache closes', async () => {}, ({ cache }) => cache.close(), 'empty done'],
  ['another resource is written', async () => {}, ({ put }) => put('others', 'x'), 'empty'],
]
for (const [name, before, then, order] of waits)
  test(`the first object of a resource: ${name}`, async () => {
    const fixture = await start()
    const { cache, storage } = fixture
    await before(fixture)
    await until(
      'the feed',
      async () => cache.freshness.revision === (await storage.currentRevision()),
    )
    const stop = new AbortController()
    const seen: string[] = []
    const waiting = cache
      .untilStored(plainResource('things'), stop.signal, () => seen.push('empty'))
      .then(() => seen.push('done'))
    await settle()
    await then(fixture, stop)
    await settle()
    assert.equal(seen.join(' '), order)
    stop.abort()
    await waiting
    await cache.close()
    await storage.close()
  })
