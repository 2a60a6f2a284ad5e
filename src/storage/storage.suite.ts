/**
 * The storage contract as tests, which every backend runs. Revisions are only compared with each
 * other, because etcd also counts other clients' writes.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import {
  type Change,
  type Outcome,
  prefixRange,
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
} from './storage.ts'

export interface Opened {
  readonly storage: Storage
  /** The key prefix of this test; the feed delivers nothing else. */
  readonly prefix: string
  /**
   * Closes the store and opens it again on the same state; undefined if the state does not persist.
   */
  reopen?(): Promise<Storage>
  dispose(): Promise<void>
}

/** The stores that `open` returns, all on one state. */
export async function openedAgain(prefix: string, open: () => Promise<Storage>): Promise<Opened> {
  let storage = await open()
  return {
    storage,
    prefix,
    async reopen() {
      await storage.close()
      storage = await open()
      return storage
    },
    dispose: () => storage.close(),
  }
}

export interface SuiteOptions {
  open(): Promise<Opened>
  /** The shortest TTL that the backend supports. */
  ttlSecondsMin: number
  /**
   * Whether the feed delivers a write before the writer's promise resolves, with the same buffer.
   */
  feedFirst: boolean
  /** False if the store compacts by itself and takes no compaction requests. */
  compactsOnRequest?: boolean
}

interface Place {
  storage: Storage
  prefix: string
  opened: Opened
}

type Body = (place: Place) => Promise<void>

export function storageSuite(name: string, options: SuiteOptions): void {
  const on = (body: Body) => async () => {
    const opened = await options.open()
    try {
      await body({ storage: opened.storage, prefix: opened.prefix, opened })
    } finally {
      await opened.dispose()
    }
  }
  describe(name, () => {
    describe('conditional writes', () => writeTests(on))
    describe('reads', () => readTests(on))
    describe('feed', () => feedTests(on, options))
    if (options.compactsOnRequest !== false) describe('compaction', () => compactionTests(on))
    describe('time to live', () => timeToLiveTests(on, options))
    describe('closing', () => closingTests(on))
  })
}

type On = (body: Body) => () => Promise<void>

function writeTests(on: On): void {
  test(
    'create requires that the key does not exist',
    on(async ({ storage, prefix }) => {
      const first = won(await storage.put(`${prefix}a`, Buffer.from('1'), { ifRevision: 0 }))
      const second = await storage.put(`${prefix}a`, Buffer.from('2'), { ifRevision: 0 })
      assert.equal(second.ok, false)
      const { current } = second as Extract<Outcome, { ok: false }>
      assert.equal(current?.key, `${prefix}a`)
      assert.equal(current?.revision, first)
      assert.equal(current?.bytes.toString(), '1')
      assert.ok(first > 0)
    }),
  )

  test(
    'replace requires the named revision',
    on(async ({ storage, prefix }) => {
      const first = won(await storage.put(`${prefix}a`, Buffer.from('1'), { ifRevision: 0 }))
      const second = won(await storage.put(`${prefix}a`, Buffer.from('2'), { ifRevision: first }))
      assert.ok(second > first)
      const stale = await storage.put(`${prefix}a`, Buffer.from('3'), { ifRevision: first })
      assert.deepEqual(stale.ok ? undefined : stale.current?.revision, second)
      const missing = await storage.put(`${prefix}b`, Buffer.from('3'), { ifRevision: second })
      assert.deepEqual(missing, { ok: false, current: undefined })
    }),
  )

  test(
    'delete requires the named revision; then the key can be created again',
    on(async ({ storage, prefix }) => {
      const first = won(await storage.put(`${prefix}a`, Buffer.from('1'), { ifRevision: 0 }))
      assert.equal((await storage.delete(`${prefix}a`, { ifRevision: first + 1000 })).ok, false)
      const gone = won(await storage.delete(`${prefix}a`, { ifRevision: first }))
      assert.ok(gone > first)
      assert.deepEqual(await storage.delete(`${prefix}a`, { ifRevision: first }), {
        ok: false,
        current: undefined,
      })
      assert.deepEqual(await storage.delete(`${prefix}a`, { ifRevision: 0 }), {
        ok: false,
        current: undefined,
      })
      const again = won(await storage.put(`${prefix}a`, Buffer.from('2'), { ifRevision: 0 }))
      assert.ok(again > gone)
    }),
  )

  test(
    'of many writers that race for one revision exactly one wins',
    on(async ({ storage, prefix }) => {
      const first = won(await storage.put(`${prefix}a`, Buffer.from('0'), { ifRevision: 0 }))
      const racers = Array.from({ length: 20 }, (_, i) =>
        storage.put(`${prefix}a`, Buffer.from(`${i}`), { ifRevision: first }),
      )
      const outcomes = await Promise.all(racers)
      const winners = outcomes.filter((outcome) => outcome.ok)
      assert.equal(winners.length, 1)
      const { value } = await storage.get(`${prefix}a`)
      assert.equal(value?.bytes.toString(), `${outcomes.findIndex((outcome) => outcome.ok)}`)
      for (const outcome of outcomes) {
        if (!outcome.ok) assert.equal(outcome.current?.revision, value?.revision)
      }
    }),
  )

  test(
    'ordered: revisions grow by the order of commits',
    on(async ({ storage, prefix }) => {
      const writes = Array.from({ length: 50 }, (_, i) =>
        storage.put(`${prefix}${i}`, Buffer.from('x'), { ifRevision: 0 }),
      )
      const revisions = (await Promise.all(writes)).map(won)
      assert.equal(new Set(revisions).size, 50)
      const after = won(await storage.put(`${prefix}after`, Buffer.from('x'), { ifRevision: 0 }))
      assert.ok(revisions.every((revision) => revision < after))
    }),
  )

  test(
    'values are returned unchanged: empty, large, and any byte',
    on(async ({ storage, prefix }) => {
      const values = [
        Buffer.alloc(0),
        Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
        Buffer.alloc(1_200_000, 'large '),
      ]
      for (const [i, value] of values.entries()) {
        won(await storage.put(`${prefix}${i}`, value, { ifRevision: 0 }))
        const { value: stored } = await storage.get(`${prefix}${i}`)
        assert.ok(stored?.bytes.equals(value), `value ${i}`)
      }
      const { value: page } = await storage.list(prefixRange(prefix))
      assert.deepEqual(
        page.items.map((item) => item.bytes.length),
        values.map((value) => value.length),
      )
    }),
  )

  test(
    'durable: acknowledged writes survive reopening',
    on(async ({ storage, prefix, opened }) => {
      const a = won(await storage.put(`${prefix}a`, Buffer.from('1'), { ifRevision: 0 }))
      const b = won(await storage.put(`${prefix}b`, Buffer.from('2'), { ifRevision: 0 }))
      const gone = won(await storage.delete(`${prefix}a`, { ifRevision: a }))
      if (!opened.reopen) return
      const again = await opened.reopen()
      assert.ok((await again.currentRevision()) >= gone)
      assert.equal((await again.get(`${prefix}a`)).value, undefined)
      assert.equal((await again.get(`${prefix}a`, a)).value?.bytes.toString(), '1')
      assert.equal((await again.get(`${prefix}b`)).value?.revision, b)
      const next = won(await again.put(`${prefix}a`, Buffer.from('3'), { ifRevision: 0 }))
      assert.ok(next > gone)
    }),
  )
}

function readTests(on: On): void {
  test(
    'get: at the newest revision, at an older one, before the first',
    on(async ({ storage, prefix }) => {
      const before = await storage.currentRevision()
      const first = won(await storage.put(`${prefix}a`, Buffer.from('1'), { ifRevision: 0 }))
      const second = won(await storage.put(`${prefix}a`, Buffer.from('2'), { ifRevision: first }))
      const gone = won(await storage.delete(`${prefix}a`, { ifRevision: second }))
      const at = async (revision?: Revision) =>
        (await storage.get(`${prefix}a`, revision)).value?.bytes.toString()
      assert.equal(await at(before), undefined)
      assert.equal(await at(first), '1')
      assert.equal(await at(second), '2')
      assert.equal(await at(gone), undefined)
      assert.equal(await at(), undefined)
      const read = await storage.get(`${prefix}a`, second)
      assert.equal(read.value?.revision, second)
      assert.equal(read.value?.key, `${prefix}a`)
    }),
  )

  test(
    'current: after a write the store is at least at its revision',
    on(async ({ storage, prefix }) => {
      for (let i = 0; i < 10; i++) {
        const written = won(await storage.put(`${prefix}${i}`, Buffer.from('x'), { ifRevision: 0 }))
        assert.ok((await storage.currentRevision()) >= written)
        const read = await storage.get(`${prefix}${i}`)
        assert.ok(read.revision >= written)
        assert.equal(read.value?.revision, written)
      }
    }),
  )

  test(
    'list: in key order, within the range only, at a revision',
    on(async ({ storage, prefix }) => {
      const names = ['b/2', 'a/1', 'b/10', 'c/1', 'b', 'b/é', 'b/z', 'b/𝒳', 'b/\uffee']
      for (const name of names) {
        won(await storage.put(prefix + name, Buffer.from(name), { ifRevision: 0 }))
      }
      const snapshot = await storage.currentRevision()
      const { value: two } = await storage.get(`${prefix}b/2`)
      won(await storage.delete(`${prefix}b/2`, { ifRevision: two?.revision ?? 0 }))
      won(await storage.put(`${prefix}b/0`, Buffer.from('b/0'), { ifRevision: 0 }))

      const now = await storage.list(prefixRange(`${prefix}b/`))
      const expected = ['b/0', 'b/10', 'b/z', 'b/é', 'b/\uffee', 'b/𝒳']
      assert.deepEqual(
        now.value.items.map((item) => item.key.slice(prefix.length)),
        expected,
      )
      assert.deepEqual(
        now.value.items.map((item) => item.bytes.toString()),
        expected,
      )
      assert.equal(now.value.more, false)
      assert.equal(now.value.remaining, 0)
      const then = await storage.list(prefixRange(`${prefix}b/`), { at: snapshot })
      assert.equal(then.revision, snapshot)
      assert.deepEqual(
        then.value.items.map((item) => item.key.slice(prefix.length)),
        ['b/10', 'b/2', 'b/z', 'b/é', 'b/\uffee', 'b/𝒳'],
      )
      assert.equal((await storage.count(prefixRange(`${prefix}b/`))).value, 6)
      assert.equal((await storage.list(prefixRange(`${prefix}nothing/`))).value.items.length, 0)
    }),
  )

  test(
    'pages: one snapshot for all pages during writes',
    on(async ({ storage, prefix }) => {
      const keys = Array.from({ length: 25 }, (_, i) => `${prefix}${String(i).padStart(3, '0')}`)
      await Promise.all(keys.map((key) => storage.put(key, Buffer.from('x'), { ifRevision: 0 })))
      const range = prefixRange(prefix)
      const seen: string[] = []
      let start = range.start
      let at: Revision | undefined
      for (let pages = 0; ; pages++) {
        const read = await storage.list({ start, end: range.end }, { at, limit: 10 })
        at ??= read.revision
        assert.equal(read.revision, at)
        seen.push(...read.value.items.map((item) => item.key))
        assert.equal(read.value.remaining, keys.length - seen.length)
        assert.equal(read.value.more, seen.length < keys.length)
        won(await storage.put(`${prefix}9${pages}`, Buffer.from('later'), { ifRevision: 0 }))
        if (!read.value.more) break
        start = `${seen.at(-1)}\0`
      }
      assert.deepEqual(seen, keys)
      assert.equal((await storage.count(range)).value, keys.length + 3)
    }),
  )

  test(
    'a list without a limit is complete, however long',
    on(async ({ storage, prefix }) => {
      const keys = Array.from({ length: 2500 }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`)
      const put = (key: string) => storage.put(key, Buffer.from(key), { ifRevision: 0 })
      // Not all at once: etcd itself rejects requests that it cannot process within seconds.
      for (let i = 0; i < keys.length; i += 100) await Promise.all(keys.slice(i, i + 100).map(put))
      const listing = storage.list(prefixRange(prefix))
      await Promise.all([put(`${prefix}2400a`), put(`${prefix}0000a`)])
      const { value, revision } = await listing
      assert.ok(value.items.every((item) => item.revision <= revision))
      const added = value.items.filter((item) => item.key.endsWith('a'))
      const old = value.items.filter((item) => !item.key.endsWith('a'))
      assert.deepEqual(
        old.map((item) => item.key),
        keys,
      )
      assert.equal(value.more, false)
      assert.ok(added.every((item) => item.revision <= revision))
      assert.equal((await storage.count(prefixRange(prefix))).value, 2502)
    }),
  )

  test(
    'a revision in the future is rejected',
    on(async ({ storage, prefix }) => {
      const future = (await storage.currentRevision()) + 1000
      await assert.rejects(storage.get(`${prefix}a`, future), RevisionInFuture)
      await assert.rejects(storage.list(prefixRange(prefix), { at: future }), RevisionInFuture)
      await assert.rejects(storage.compact(future), RevisionInFuture)
    }),
  )
}

function feedTests(on: On, options: SuiteOptions): void {
  test(
    'complete: from any revision the feed misses nothing and repeats nothing, in order',
    on(async ({ storage, prefix }) => {
      const start = await storage.currentRevision()
      const early = await writeSome(storage, `${prefix}early-`, 30)
      const readers = [
        collect(storage, start, 91),
        collect(storage, early[9] as number, 81),
        collect(storage, await storage.currentRevision(), 61),
      ]
      await Promise.all([
        writeSome(storage, `${prefix}x-`, 30),
        writeSome(storage, `${prefix}y-`, 30),
      ])
      const { value } = await storage.get(`${prefix}x-3`)
      const gone = won(await storage.delete(`${prefix}x-3`, { ifRevision: value?.revision ?? 0 }))
      const [all, some, late] = (await Promise.all(readers)) as [Change[], Change[], Change[]]
      for (const changes of [all, some, late]) {
        for (let i = 1; i < changes.length; i++) {
          assert.ok((changes[i] as Change).revision > (changes[i - 1] as Change).revision)
        }
        assert.equal(changes.at(-1)?.revision, gone)
        assert.equal(changes.at(-1)?.bytes, undefined)
      }
      assert.deepEqual(some.map(plain), all.slice(10).map(plain))
      assert.deepEqual(late.map(plain), all.slice(30).map(plain))
      for (const { key, bytes } of all.slice(0, 90)) assert.equal(bytes?.toString(), key)
    }),
  )

  test(
    'resumable: reading in parts equals reading at once',
    on(async ({ storage, prefix }) => {
      const start = await storage.currentRevision()
      await writeSome(storage, prefix, 40)
      const whole = await collect(storage, start, 40)
      const pieces: Change[] = []
      let after = start
      while (pieces.length < 40) {
        const piece = await collect(storage, after, 1)
        pieces.push(...piece)
        after = pieces.at(-1)?.revision ?? after
      }
      assert.deepEqual(pieces.map(plain), whole.map(plain))
    }),
  )

  test(
    'atomic: batches are whole revisions and never empty',
    on(async ({ storage, prefix }) => {
      const start = await storage.currentRevision()
      const abort = new AbortController()
      const reading = (async () => {
        let last = 0
        let count = 0
        for await (const batch of storage.changes({ after: start, signal: abort.signal })) {
          assert.ok(batch.length > 0)
          assert.ok((batch[0] as Change).revision > last)
          last = batch.at(-1)?.revision ?? 0
          count += batch.length
          if (count === 60) return
        }
      })()
      await Promise.all([
        writeSome(storage, `${prefix}a-`, 30),
        writeSome(storage, `${prefix}b-`, 30),
      ])
      await reading
      abort.abort()
    }),
  )

  test(
    'a feed that starts in the future waits for that revision',
    on(async ({ storage, prefix }) => {
      const after = (await storage.currentRevision()) + 2
      const reading = collect(storage, after, 1)
      const written = await writeSome(storage, prefix, 4)
      const changes = await reading
      assert.equal(
        changes[0]?.revision,
        written.find((revision) => revision > after),
      )
    }),
  )

  test(
    'the signal ends the feed without an error, waiting or not',
    on(async ({ storage, prefix }) => {
      const abort = new AbortController()
      const after = await storage.currentRevision()
      const counts = [0, 0]
      const read = async (reader: number) => {
        for await (const batch of storage.changes({ after, signal: abort.signal })) {
          counts[reader] = (counts[reader] ?? 0) + batch.length
        }
      }
      const readers = [read(0), read(1)]
      won(await storage.put(`${prefix}a`, Buffer.from('1'), { ifRevision: 0 }))
      await until('both to be told', () => counts[0] === 1 && counts[1] === 1)
      abort.abort()
      await Promise.all(readers)
      for await (const _ of storage.changes({ after, signal: abort.signal })) {
        assert.fail('an aborted feed has nothing')
      }
    }),
  )

  test(
    'a reader that leaves the feed does not affect others',
    on(async ({ storage, prefix }) => {
      const after = await storage.currentRevision()
      const staying = collect(storage, after, 3)
      const left = await Promise.all([
        collect(storage, after, 1),
        writeSome(storage, prefix, 3).then(() => undefined),
      ])
      assert.equal(left[0].length >= 1, true)
      assert.equal((await staying).length, 3)
    }),
  )

  test(
    'a slow reader gets everything',
    on(async ({ storage, prefix }) => {
      const after = await storage.currentRevision()
      const keys: string[] = []
      const abort = new AbortController()
      const reading = (async () => {
        for await (const batch of storage.changes({ after, signal: abort.signal })) {
          keys.push(...batch.map((change) => change.key))
          if (keys.length >= 300) return
          await sleep(2)
        }
      })()
      for (let i = 0; i < 3; i++) await writeSome(storage, `${prefix}${i}-`, 100)
      await reading
      assert.equal(new Set(keys).size, 300)
      assert.equal(keys.length, 300)
    }),
  )

  if (!options.feedFirst) return
  test(
    'a waiting reader gets the write before the writer does, as the same buffer',
    on(async ({ storage, prefix }) => {
      const after = await storage.currentRevision()
      const order: string[] = []
      const bytes = Buffer.from('mine')
      const abort = new AbortController()
      const reading = (async () => {
        for await (const [change] of storage.changes({ after, signal: abort.signal })) {
          order.push('reader')
          assert.equal(change?.bytes, bytes)
          return
        }
      })()
      await new Promise(setImmediate)
      won(await storage.put(`${prefix}a`, bytes, { ifRevision: 0 }))
      order.push('writer')
      await reading
      assert.deepEqual(order, ['reader', 'writer'])
    }),
  )
}

function compactionTests(on: On): void {
  test(
    'compaction deletes earlier history and keeps the current state and later changes',
    on(async ({ storage, prefix }) => {
      const a1 = won(await storage.put(`${prefix}a`, Buffer.from('a1'), { ifRevision: 0 }))
      const b1 = won(await storage.put(`${prefix}b`, Buffer.from('b1'), { ifRevision: 0 }))
      const c1 = won(await storage.put(`${prefix}c`, Buffer.from('c1'), { ifRevision: 0 }))
      const a2 = won(await storage.put(`${prefix}a`, Buffer.from('a2'), { ifRevision: a1 }))
      const c2 = won(await storage.delete(`${prefix}c`, { ifRevision: c1 }))
      const d1 = won(await storage.put(`${prefix}d`, Buffer.from('d1'), { ifRevision: 0 }))
      await storage.compact(c2)
      assert.equal(storage.compactedUpTo(), c2)

      for (const old of [a1, b1, c1, a2]) {
        await assert.rejects(storage.get(`${prefix}a`, old), RevisionCompacted)
        await assert.rejects(storage.list(prefixRange(prefix), { at: old }), RevisionCompacted)
      }
      await assert.rejects(collect(storage, a1, 1), (error: Error) => {
        assert.ok(error instanceof RevisionCompacted)
        assert.equal(error.compactedUpTo, c2)
        return true
      })
      const at = async (revision?: Revision) =>
        (await storage.list(prefixRange(prefix), { at: revision })).value.items.map((item) =>
          item.bytes.toString(),
        )
      assert.deepEqual(await at(), ['a2', 'b1', 'd1'])
      assert.deepEqual(await at(c2), ['a2', 'b1'])
      assert.deepEqual(await at(d1), ['a2', 'b1', 'd1'])
      assert.deepEqual(
        (await collect(storage, c2, 1)).map((change) => change.revision),
        [d1],
      )
      won(await storage.put(`${prefix}b`, Buffer.from('b2'), { ifRevision: b1 }))
      won(await storage.put(`${prefix}c`, Buffer.from('c3'), { ifRevision: 0 }))
      assert.deepEqual(await at(), ['a2', 'b2', 'c3', 'd1'])
    }),
  )

  test(
    'compacting twice, or to a lower revision, changes nothing',
    on(async ({ storage, prefix, opened }) => {
      const revisions = await writeSome(storage, prefix, 6)
      await storage.compact(revisions[3] as number)
      await storage.compact(revisions[3] as number)
      await storage.compact(revisions[1] as number)
      await assert.rejects(storage.get(`${prefix}0`, revisions[2]), RevisionCompacted)
      const later = await storage.list(prefixRange(prefix), { at: revisions[4] })
      assert.equal(later.value.items.length, 5)
      if (!opened.reopen) return
      const again = await opened.reopen()
      await assert.rejects(again.get(`${prefix}0`, revisions[2]), RevisionCompacted)
      assert.equal((await again.list(prefixRange(prefix))).value.items.length, 6)
    }),
  )

  test(
    'compaction does not affect a reader that is up to date',
    on(async ({ storage, prefix }) => {
      const read: Change[] = []
      const reading = collect(storage, await storage.currentRevision(), 20, read)
      for (let i = 1; i <= 4; i++) {
        const revisions = await writeSome(storage, `${prefix}${i}-`, 5)
        await until('the reader to be up to date', () => read.length === 5 * i)
        await storage.compact(revisions.at(-1) as number)
        await sleep(5)
      }
      assert.equal((await reading).length, 20)
    }),
  )
}

function timeToLiveTests(on: On, options: SuiteOptions): void {
  const ttlSeconds = options.ttlSecondsMin
  test(
    'the feed delivers expirations, and a rewritten key does not expire',
    on(async ({ storage, prefix }) => {
      const after = await storage.currentRevision()
      const feed = collect(storage, after, 5)
      const put = (name: string, ifRevision: Revision, ttl?: number) =>
        storage.put(prefix + name, Buffer.from(name), { ifRevision, ttlSeconds: ttl })
      const kept = won(await put('kept', 0, ttlSeconds))
      won(await put('kept', kept))
      won(await put('long', 0, 3600))
      won(await put('short', 0, ttlSeconds))
      const changes = await feed
      const last = changes.at(-1)
      assert.equal(last?.key, `${prefix}short`)
      assert.equal(last?.bytes, undefined)
      assert.equal((await storage.get(`${prefix}short`)).value, undefined)
      assert.ok((await storage.get(`${prefix}kept`)).value)
      assert.ok((await storage.get(`${prefix}long`)).value)
      assert.ok((await storage.get(`${prefix}short`, last?.revision && last.revision - 1)).value)
      won(await put('short', 0))
    }),
  )
}

function closingTests(on: On): void {
  test(
    'closing a busy store: every write gets a result, and the acknowledged ones exist',
    on(async ({ storage, prefix, opened }) => {
      const after = await storage.currentRevision()
      const feed = collect(storage, after, 1_000_000).catch((error) => error)
      const writes = Array.from({ length: 40 }, (_, i) =>
        storage
          .put(`${prefix}${i}`, Buffer.from('x'), { ifRevision: 0 })
          .catch((error: unknown) => error as Error),
      )
      const closing = storage.close()
      const answers = await Promise.all(writes)
      await closing
      assert.ok((await feed) instanceof StorageUnavailable)
      for (const answer of answers) {
        if (answer instanceof Error) assert.ok(answer instanceof StorageUnavailable, `${answer}`)
      }
      if (!opened.reopen) return
      const again = await opened.reopen()
      for (const [i, answer] of answers.entries()) {
        if (answer instanceof Error) continue
        assert.equal((await again.get(`${prefix}${i}`)).value?.revision, won(answer))
      }
    }),
  )

  test(
    'a closed store rejects everything, and closing it again is no error',
    on(async ({ storage, prefix }) => {
      await storage.close()
      await storage.close()
      const calls = [
        () => storage.get(`${prefix}a`),
        () => storage.list(prefixRange(prefix)),
        () => storage.count(prefixRange(prefix)),
        () => storage.put(`${prefix}a`, Buffer.from('x'), { ifRevision: 0 }),
        () => storage.delete(`${prefix}a`, { ifRevision: 1 }),
        () => storage.compact(1),
        () => collect(storage, 1, 1),
      ]
      for (const call of calls) await assert.rejects(call(), StorageUnavailable)
      assert.ok(storage.trouble())
    }),
  )
}

/** The revision of a write that must have succeeded. */
export function won(outcome: Outcome): Revision {
  assert.ok(outcome.ok, `a write was refused: ${JSON.stringify(outcome)}`)
  return outcome.revision
}

/** Reads the feed until it has delivered at least this many changes. */
export async function collect(
  storage: Storage,
  after: Revision,
  count: number,
  collected: Change[] = [],
): Promise<Change[]> {
  const abort = new AbortController()
  for await (const batch of storage.changes({ after, signal: abort.signal })) {
    collected.push(...batch)
    if (collected.length >= count) break
  }
  return collected
}

async function writeSome(storage: Storage, prefix: string, count: number): Promise<Revision[]> {
  const revisions: Revision[] = []
  for (let i = 0; i < count; i += 10) {
    const writes = Array.from({ length: Math.min(10, count - i) }, (_, j) =>
      storage.put(`${prefix}${i + j}`, Buffer.from(`${prefix}${i + j}`), { ifRevision: 0 }),
    )
    revisions.push(...(await Promise.all(writes)).map(won))
  }
  // Concurrent writes may have been committed in any order.
  return revisions.sort((a, b) => a - b)
}

function plain(change: Change): [string, Revision, string | undefined] {
  return [change.key, change.revision, change.bytes?.toString()]
}
