import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import { systemClock } from '#base/clock.ts'
import { prefixRange, type Storage, StorageUnavailable } from '#storage/storage.ts'
import { collect, storageSuite, won } from '#storage/storage.suite.ts'
import { openSqliteStorage } from './sqlite.ts'

for (const [name, concurrentWritesMax] of [
  ['sqlite', undefined],
  ['sqlite, by a thread of its own', 0],
] as const) {
  storageSuite(name, {
    open: async () => {
      const directory = mkdtempSync(join(tmpdir(), 'binnacle-sqlite-'))
      const open = () => openSqliteStorage({ directory, concurrentWritesMax })
      let storage = await open()
      return {
        storage,
        prefix: '/registry/',
        async reopen() {
          await storage.close()
          storage = await open()
          return storage
        },
        async dispose() {
          await storage.close()
          rmSync(directory, { recursive: true })
        },
      }
    },
    ttlSecondsMin: 0.5,
    feedFirst: true,
  })
}

async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-sqlite-'))
  try {
    await body(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('a second server on the same directory is rejected until the first has stopped', () =>
  inDirectory(async (directory) => {
    const first = await openSqliteStorage({ directory })
    await assert.rejects(openSqliteStorage({ directory }), (error: Error) => {
      assert.ok(error instanceof StorageUnavailable)
      assert.match(error.message, new RegExp(`${directory} is in use by another server \\(process`))
      return true
    })
    won(await first.put('/a', Buffer.from('x'), { ifRevision: 0 }))
    await first.close()
    const second = await openSqliteStorage({ directory })
    assert.ok((await second.get('/a')).value)
    await second.close()
  }))

test('history of large values is delivered in small batches', () =>
  inDirectory(async (directory) => {
    const storage = await openSqliteStorage({ directory })
    const start = await storage.currentRevision()
    const value = Buffer.alloc(1024 * 1024, 'x')
    for (let i = 0; i < 20; i++) won(await storage.put(`/a/${i}`, value, { ifRevision: 0 }))
    const counts: number[] = []
    const { signal } = new AbortController()
    for await (const batch of storage.changes({ after: start, signal })) {
      counts.push(batch.length)
      if (batch.at(-1)?.key === '/a/19') break
    }
    assert.deepEqual(counts, [8, 8, 4])
    await storage.close()
  }))

test('a long list is complete at its revision, even if it is compacted meanwhile', (t) =>
  inDirectory(async (directory) => {
    const storage = await openSqliteStorage({ directory })
    const file = new DatabaseSync(join(directory, 'state.db'), { readOnly: true })
    t.after(() => {
      file.close()
      return storage.close()
    })
    const state = file.prepare('SELECT swept FROM state')
    const forgotten = (upTo: number) =>
      until('all to be forgotten', () => Number(state.get()?.swept) === upTo)
    const keys = Array.from({ length: 4000 }, (_, i) => `/registry/${String(i).padStart(4, '0')}`)
    const made = keys.map((key) => storage.put(key, Buffer.from(key), { ifRevision: 0 }))
    const last = won((await Promise.all(made)).at(-1)!)
    await storage.compact(last)
    await forgotten(last)

    const listing = storage.list(prefixRange('/registry/'))
    const gone = won(await storage.delete(keys.at(-1)!, { ifRevision: last }))
    const compacting = storage.compact(gone)
    const { revision, value } = await listing
    await compacting
    await forgotten(gone)
    assert.equal(revision, last)
    assert.deepEqual(
      value.items.map((item) => item.bytes.toString()),
      keys,
    )
  }))

test('other users of the machine cannot read the state', () =>
  inDirectory(async (directory) => {
    const storage = await openSqliteStorage({ directory })
    won(await storage.put('/a', Buffer.from('x'), { ifRevision: 0 }))
    for (const name of readdirSync(directory).filter((name) => name.startsWith('state.db'))) {
      assert.equal(statSync(join(directory, name)).mode & 0o077, 0, name)
    }
    await storage.close()
  }))

test('compaction deletes old rows on disk, even if it is interrupted', () =>
  inDirectory(async (directory) => {
    let storage = await openSqliteStorage({ directory })
    const revisions = new Map<string, number>()
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const key = `/registry/${i}`
          const ifRevision = revisions.get(key) ?? 0
          if (round % 7 === 6 && i % 2 === 0) {
            won(await storage.delete(key, { ifRevision }))
            revisions.delete(key)
          } else {
            const value = Buffer.from(`${round}`)
            revisions.set(key, won(await storage.put(key, value, { ifRevision })))
          }
        }),
      )
    }
    const listed = storage.list({ start: '/', end: '0' })
    await storage.compact(await storage.currentRevision())
    await listed
    // Closed before all old rows are deleted; the next run continues.
    await storage.close()
    storage = await openSqliteStorage({ directory })
    assert.equal((await storage.count({ start: '/', end: '0' })).value, revisions.size)
    await until('the rows', () => rowsOf(directory) === revisions.size)
    const { value } = await storage.list({ start: '/', end: '0' })
    assert.deepEqual(
      value.items.map((item) => [item.key, item.revision]).toSorted(),
      [...revisions].toSorted(),
    )
    await storage.close()
  }))

function rowsOf(directory: string): number {
  const database = new DatabaseSync(join(directory, 'state.db'), { readOnly: true })
  const row = database.prepare('SELECT count(*) AS rows FROM log').get()
  database.close()
  return Number(row?.rows)
}

test('a list of many rows lets other requests run in between', () =>
  inDirectory(async (directory) => {
    const storage = await openSqliteStorage({ directory })
    const keys = Array.from({ length: 4000 }, (_, i) => `/registry/${i}`)
    await Promise.all(keys.map((key) => storage.put(key, Buffer.alloc(1000), { ifRevision: 0 })))
    let turns = 0
    let listing = true
    const turn = () => {
      turns++
      if (listing) setImmediate(turn)
    }
    setImmediate(turn)
    assert.equal((await storage.list({ start: '/', end: '0' })).value.items.length, keys.length)
    listing = false
    assert.ok(turns >= 7, `${turns} turns`)
    await storage.close()
  }))

test('an adjusted clock neither shortens nor extends a TTL while the server runs', () =>
  inDirectory(async (directory) => {
    let now = 1_700_000_000_000
    let elapsed = 0
    const clock = { ...systemClock, now: () => now, elapsed: () => elapsed }
    let storage: Storage = await openSqliteStorage({ directory, clock })
    const first = await storage.currentRevision()
    const put = (key: string) =>
      storage.put(key, Buffer.from('x'), { ifRevision: 0, ttlSeconds: 60 })
    won(await put('/a'))
    now += 3_600_000
    await sleep(1100)
    assert.ok((await storage.get('/a')).value, 'the clock went forward, time did not')
    won(await put('/b'))
    await storage.close()

    storage = await openSqliteStorage({ directory, clock })
    await sleep(50)
    assert.ok((await storage.get('/a')).value, 'and not over a restart either')
    now -= 7_200_000
    elapsed += 60_001
    now += 60_001
    const changes = await collect(storage, first, 4)
    assert.deepEqual(
      changes.slice(2).map((change) => [change.key, change.bytes]),
      [
        ['/a', undefined],
        ['/b', undefined],
      ],
    )
    await storage.close()
  }))

test('a clock that was set back while the server was down extends no TTL', () =>
  inDirectory(async (directory) => {
    let now = 1_700_000_000_000
    const clock = { ...systemClock, now: () => now, elapsed: () => now }
    let storage = await openSqliteStorage({ directory, clock })
    const after = await storage.currentRevision()
    won(await storage.put('/a', Buffer.from('x'), { ifRevision: 0, ttlSeconds: 60 }))
    await storage.close()
    now -= 86_400_000
    storage = await openSqliteStorage({ directory, clock })
    await sleep(50)
    now += 61_000
    assert.equal((await collect(storage, after, 2)).at(-1)?.bytes, undefined)
    await storage.close()
  }))
