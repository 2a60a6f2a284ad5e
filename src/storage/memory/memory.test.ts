import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { collect, storageSuite, won } from '#storage/storage.suite.ts'
import { systemClock } from '#base/clock.ts'
import { createMemoryStorage } from './memory.ts'

storageSuite('memory', {
  open: async () => {
    const storage = createMemoryStorage()
    return { storage, prefix: '/registry/', dispose: () => storage.close() }
  },
  ttlSecondsMin: 0.05,
  feedFirst: true,
})

test('a TTL follows elapsed time, not the wall clock', async () => {
  let now = 1_000_000
  let elapsed = 0
  const storage = createMemoryStorage({
    clock: { ...systemClock, now: () => now, elapsed: () => elapsed },
  })
  const after = storage.currentRevision()
  won(await storage.put('/a', Buffer.from('x'), { ifRevision: 0, ttlSeconds: 60 }))
  now += 3_600_000
  await sleep(1100)
  assert.ok((await storage.get('/a')).value)
  now -= 7_200_000
  elapsed += 60_001
  assert.equal((await collect(storage, await after, 2)).at(-1)?.bytes, undefined)
  await storage.close()
})

test('deleted and compacted keys use no memory', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const storage = createMemoryStorage()
  const remembered: WeakRef<object>[] = []
  const remove = async (key: string) => {
    const revision = won(await storage.put(key, Buffer.from('x'), { ifRevision: 0 }))
    won(await storage.delete(key, { ifRevision: revision }))
    // The feed returns the stored buffers.
    for (const change of await collect(storage, revision - 1, 2))
      remembered.push(new WeakRef(change))
  }
  for (const key of ['/a', '/b', '/c']) await remove(key)
  const left = async () => {
    await sleep(1)
    collectGarbage()
    return remembered.filter((change) => change.deref() !== undefined).length
  }
  assert.equal(await left(), 6)
  await storage.compact(storage.currentRevision() as number)
  assert.equal(await left(), 0)
  await storage.close()
})

test('a fork and its origin share the past and diverge afterwards', async () => {
  const origin = createMemoryStorage()
  const text = async (storage: typeof origin, key: string, at?: number) =>
    (await storage.get(key, at)).value?.bytes.toString()
  const put = async (storage: typeof origin, key: string, value: string, ifRevision: number) =>
    won(await storage.put(key, Buffer.from(value), { ifRevision }))
  const first = await put(origin, '/a', 'one', 0)
  const fork = origin.fork()
  const inOrigin = await put(origin, '/a', 'origin', first)
  const inFork = await put(fork, '/a', 'fork', first)
  await put(fork, '/b', 'new', 0)
  assert.equal(inOrigin, inFork, 'both give out the same next revision')
  const rows: [Awaited<ReturnType<typeof text>>, string | undefined][] = [
    [await text(origin, '/a'), 'origin'],
    [await text(fork, '/a'), 'fork'],
    [await text(fork, '/a', first), 'one'],
    [await text(origin, '/b'), undefined],
    [await text(fork.fork(), '/b'), 'new'],
  ]
  for (const [got, want] of rows) assert.equal(got, want)
  assert.deepEqual(
    (await collect(fork, 1, 3)).map(({ key }) => key),
    ['/a', '/a', '/b'],
  )
  await fork.compact(fork.currentRevision())
  assert.equal(await text(origin, '/a', first), 'one', 'compaction of a fork leaves the origin')
  await origin.close()
  assert.equal(await text(fork, '/a'), 'fork', 'a closed origin leaves its forks')
  await fork.close()
})

test('a TTL continues in a fork', async () => {
  let elapsed = 0
  const clock = { ...systemClock, now: () => 0, elapsed: () => elapsed }
  const origin = createMemoryStorage({ clock })
  won(await origin.put('/a', Buffer.from('x'), { ifRevision: 0, ttlSeconds: 60 }))
  let later = 500_000
  const fork = origin.fork({ ...systemClock, now: () => 0, elapsed: () => later })
  later += 59_000
  await sleep(1100)
  assert.ok((await fork.get('/a')).value)
  later += 2000
  assert.equal((await collect(fork, fork.currentRevision(), 1)).at(-1)?.bytes, undefined)
  elapsed += 1
  assert.ok((await origin.get('/a')).value)
  await Promise.all([origin.close(), fork.close()])
})

test('forks have the same origin until their store is written', async () => {
  const store = createMemoryStorage()
  const put = (storage: typeof store, key: string, value: string) =>
    storage.put(key, Buffer.from(value), { ifRevision: 0 })
  assert.equal(store.origin(), undefined)
  await put(store, '/a', 'one')
  const one = store.fork()
  const two = store.fork().fork()
  assert.equal(one.origin(), two.origin())
  assert.equal(one.origin()?.revision, one.currentRevision())
  await put(one, '/b', 'in a fork')
  assert.equal(one.origin(), two.origin())
  assert.notEqual(one.fork().origin(), one.origin())
  await put(store, '/b', 'in the store')
  assert.notEqual(store.fork().origin(), two.origin())
  assert.notEqual(store.fork().origin(), one.fork().origin())
})
