/** Writes are committed on this thread or by the writer thread, with the same results. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { after, afterEach, beforeEach } from 'node:test'
import { performance } from 'node:perf_hooks'
import type { Worker } from 'node:worker_threads'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import type { Change, Outcome } from '#storage/storage.ts'
import { won } from '#storage/storage.suite.ts'
import type { ExpireAnswer } from './protocol.ts'
import { createDatabase } from './schema.ts'
import { WriteQueue, type WriteQueueOptions } from './write-queue.ts'

const place = mkdtempSync(join(tmpdir(), 'write-queue-'))
after(() => rmSync(place, { recursive: true }))

let threads = 0
process.on('worker', () => {
  threads++
})
beforeEach(() => {
  threads = 0
})

/** Queues of a failed test would keep the process alive. */
const tries: Try[] = []
afterEach(async () => {
  for (const one of tries.splice(0)) await one.queue.close()
})

let files = 0
function newFile(): string {
  const file = join(place, `${files++}.db`)
  createDatabase(file)
  return file
}

class Try {
  batches: Change[][] = []
  queue: WriteQueue
  /** The error that the listener throws. */
  failure: Error | undefined
  #names = 0

  constructor(options: Partial<WriteQueueOptions> = {}) {
    this.queue = new WriteQueue(
      { file: newFile(), checkpointBytes: 16 * 1024 * 1024, elapsed: () => 0, ...options },
      { committed: (changes) => this.#committed(changes) },
    )
    tries.push(this)
  }

  #committed(changes: Change[]): void {
    if (this.failure) throw this.failure
    this.batches.push(changes)
  }

  write(): Promise<Outcome> {
    const bytes = Buffer.from('x')
    const key = `/registry/${this.#names++}`
    return this.queue.write({ key, bytes, ifRevision: 0, deadline: 0, ttlMs: 0 })
  }

  /** Writes one after another, each in its own turn of the event loop. */
  async alone(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.write()
      await turn()
    }
  }

  async together(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.write()))
  }

  sizes(): number[] {
    return this.batches.map((batch) => batch.length)
  }

  revisions(): number[] {
    return this.batches.flat().map((change) => change.revision)
  }
}

const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i)

test('when a writer thread is started', async () => {
  const cases: [what: string, options: Partial<WriteQueueOptions>, work: Work, count: number][] = [
    ['nothing to do', {}, async () => {}, 0],
    ['writes that come alone', { concurrentWritesMax: 9 }, (one) => one.alone(50), 0],
    ['little company', { concurrentWritesMax: 9 }, (one) => one.together(9), 0],
    ['much company', { concurrentWritesMax: 9 }, (one) => one.together(10), 1],
    [
      'company that adds up',
      { concurrentWritesMax: 9 },
      async (one) => {
        for (let i = 0; i < 3; i++) await one.together(4)
      },
      1,
    ],
    ['a log that is copied quickly', { checkpointBytes: 65536 }, (one) => one.alone(10), 0],
    ['a log that takes long', { checkpointBytes: 65536, ...slow() }, (one) => one.alone(10), 1],
    ['company on a slow disk', { elapsed: ticking(8) }, (one) => inCompany(one, 9), 1],
    ['little to forget from before', { file: compactedUpTo(1900) }, async () => {}, 0],
    ['much to forget from before', { file: compactedUpTo(2100) }, async () => {}, 1],
    ['a compaction', {}, (one) => compactAfter(one, 500), 0],
    ['a compaction of much', { concurrentWritesMax: 9999 }, (one) => compactAfter(one, 2100), 1],
  ]
  for (const [what, options, work, count] of cases) {
    threads = 0
    const one = new Try(options)
    await work(one)
    await turn()
    assert.equal(threads, count, what)
    await one.queue.close()
  }
})

type Work = (one: Try) => Promise<void>

/**
 * Time passes only while the log is copied into the database, because only that changes its file.
 */
function slow(): Partial<WriteQueueOptions> {
  const file = newFile()
  const { mtimeNs } = statSync(file, { bigint: true })
  return { file, elapsed: () => (statSync(file, { bigint: true }).mtimeNs === mtimeNs ? 0 : 21) }
}

function compactedUpTo(revision: number): string {
  const file = newFile()
  const database = new DatabaseSync(file)
  database.exec(`UPDATE state SET compacted = ${revision}`)
  database.close()
  return file
}

/** Every operation takes the same time. */
function ticking(ms: number): () => number {
  let now = 0
  return () => (now += ms)
}

async function inCompany(one: Try, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await one.together(2)
}

async function compactAfter(one: Try, count: number): Promise<void> {
  await one.together(count)
  await one.queue.ask({ kind: 'compact', upTo: count })
}

test('a single write is committed at once, writes of one turn are committed together', async () => {
  const one = new Try()
  await one.alone(3)
  one.write()
  assert.deepEqual(one.sizes(), [1, 1, 1, 1], 'before the caller goes on')
  await one.together(5)
  assert.deepEqual(one.sizes(), [1, 1, 1, 1, 5])
  one.write()
  assert.deepEqual(one.sizes(), [1, 1, 1, 1, 5], 'after company more is expected')
  await turn()
  assert.deepEqual(one.sizes(), [1, 1, 1, 1, 5, 1])
  await one.queue.close()
})

test('a read request is answered after the writes before it', async () => {
  const one = new Try()
  const bytes = Buffer.from('x')
  for (const key of ['/a', '/b'])
    one.queue.write({ key, bytes, ifRevision: 0, deadline: 1, ttlMs: 1 })
  const answer = (await one.queue.ask({ kind: 'expire', now: 1 })) as ExpireAnswer
  assert.deepEqual(answer.keys, ['/a', '/b'])
})

test('revisions are consecutive, whichever side assigns them', async () => {
  const one = new Try({ concurrentWritesMax: 20 })
  let count = 0
  for (let round = 0; round < 60; round++) {
    const isAlone = round % 3 > 0
    await (isAlone ? one.alone(4) : one.together(7))
    count += isAlone ? 4 : 7
    if (round === 20) await one.queue.ask({ kind: 'compact', upTo: 30 })
    if (round === 40) await sleep(50)
  }
  assert.equal(threads, 1)
  assert.deepEqual(one.revisions(), from(2, count))
  await one.queue.close()
})

test('this thread does not wait for another writing connection; the writer thread does', async () => {
  const file = newFile()
  const one = new Try({ file })
  await one.alone(2)
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  const began = performance.now()
  const answer = one.write()
  const laterAnswer = one.write()
  assert.ok(performance.now() - began < 1000)
  await sleep(100)
  assert.equal(threads, 1)
  assert.equal(one.batches.length, 2)
  other.exec('ROLLBACK')
  other.close()
  assert.equal(won(await answer), 4)
  assert.equal(won(await laterAnswer), 5)
  await turn()
  await one.alone(3)
  assert.deepEqual(one.revisions(), from(2, 7))
  await one.queue.close()
})

test('the thread gets concurrent writes, and no request overtakes those of the thread', async () => {
  const one = new Try({ concurrentWritesMax: 0 })
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  assert.equal(threads, 1)
  const done = () => one.batches.flat().length

  await one.together(3)
  const company = [one.write(), one.write(), one.queue.ask({ kind: 'probe' })]
  assert.equal(done(), 5, 'company goes there')
  await Promise.all(company)

  await turn()
  await one.alone(2)
  one.write()
  assert.equal(done(), 10, 'one alone is here')
  await turn()
  const compacted = one.queue.ask({ kind: 'compact', upTo: 3 })
  const behind = one.write()
  const probed = one.queue.ask({ kind: 'probe' })
  assert.equal(done(), 10, 'not before what is there already')
  assert.equal(won(await behind), 12)
  await Promise.all([compacted, probed])
  assert.deepEqual(one.revisions(), from(2, 11))
})

test('the thread gets one request to copy the log each time it is long', async () => {
  let orders = 0
  process.once('worker', (worker) => {
    const post = worker.postMessage
    worker.postMessage = (message, transfer) => {
      if (message.what.kind === 'checkpoint') orders++
      post.call(worker, message, transfer as [])
    }
  })
  const file = newFile()
  // Forty small writes, each a page of the table and one of the index.
  const one = new Try({ file, concurrentWritesMax: 0, checkpointBytes: 40 * 2 * 8216 })
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  const { mtimeNs } = statSync(file, { bigint: true })
  await one.alone(30)
  assert.equal(orders, 0)
  await one.alone(15)
  // Again when the log has grown by an eighth before the thread has copied it.
  assert.ok(orders > 0 && orders < 4, `${orders}`)
  await until('the log to be copied', () => statSync(file, { bigint: true }).mtimeNs > mtimeNs)
})

test('the thread copies the log by itself when its own writes make it long', async () => {
  const file = newFile()
  const one = new Try({ file, concurrentWritesMax: 0, checkpointBytes: 200_000 })
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  const { mtimeNs } = statSync(file, { bigint: true })
  await inCompany(one, 20)
  await until('the log to be copied', () => statSync(file, { bigint: true }).mtimeNs > mtimeNs)
})

test('slow batches make a disk slow, many writes do not', async () => {
  const cases: [what: string, count: number, tookMs: number, threads: number][] = [
    ['many in as long as many take', 100, 20, 0],
    ['few in as long as many take', 3, 20, 1],
  ]
  for (const [what, count, tookMs, expected] of cases) {
    threads = 0
    let now = 0
    const one = new Try({ elapsed: () => (now += tookMs) })
    for (let i = 0; i < 10; i++) await one.together(count)
    await turn()
    assert.equal(threads, expected, what)
    await one.queue.close()
  }
})

test('the thread waits for a slow disk', async () => {
  let now = 0
  let tookMs = 0
  const one = new Try({ elapsed: () => (now += tookMs) })
  await one.alone(3)
  tookMs = 8
  await one.alone(1)
  assert.equal(threads, 0, 'once is no habit')
  await one.alone(8)
  assert.equal(threads, 1)
  tookMs = 0
  await until('the thread is there', async () => {
    const batches = one.batches.length
    const answer = one.write()
    const isElsewhere = one.batches.length === batches
    await answer
    await turn()
    return isElsewhere
  })
  now += 60_000
  await one.alone(1)
  const { length } = one.batches
  one.write()
  assert.equal(one.batches.length, length + 1, 'and here again when it has rested')
  tookMs = 1
  for (let i = 1; i < 9; i++) {
    await turn()
    one.write()
    assert.equal(one.batches.length, length + 1 + i, 'for good, where it is quick')
  }
  await turn()
  tookMs = 400
  await one.alone(1)
  tookMs = 1
  now += 60_000
  for (let i = 10; i < 15; i++) {
    one.write()
    assert.equal(one.batches.length, length + 1 + i, 'what was once is not held against it')
    await turn()
  }
  await one.queue.close()
})

test('compacted history is deleted by either connection, now or in a later run', async () => {
  const cases: [what: string, count: number, isCutShort: boolean][] = [
    ['little', 900, false],
    ['little, by the next', 900, true],
    ['much', 2100, false],
    ['much, by the next', 2100, true],
  ]
  for (const [what, count, isCutShort] of cases) {
    const file = newFile()
    const first = new Try({ file, concurrentWritesMax: 9999 })
    const deletions = Array.from({ length: count }, async (_, i) => {
      const ifRevision = won(await first.write())
      const key = `/registry/${i}`
      await first.queue.write({ key, bytes: undefined, ifRevision, deadline: 0, ttlMs: 0 })
    })
    await Promise.all(deletions)
    await first.queue.ask({ kind: 'compact', upTo: 2 * count })
    if (isCutShort) await first.queue.close()
    const last = isCutShort ? new Try({ file }) : first
    // The last deletion is younger, so the row that it deleted still exists.
    await until(`${what} to be forgotten`, () => rowsOf(file) === 2)
    await last.queue.close()
  }
})

test('deletions of a compaction are logged, and the log is copied, on either side', async () => {
  for (const concurrentWritesMax of [0, 9999]) {
    const file = newFile()
    const one = new Try({ file, concurrentWritesMax, checkpointBytes: 256 * 1024 })
    const count = 900
    await one.together(count)
    const remove = (i: number) => {
      const key = `/registry/${i}`
      return one.queue.write({ key, bytes: undefined, ifRevision: i + 2, deadline: 0, ttlMs: 0 })
    }
    await Promise.all(from(0, count).map(remove))
    await until('the writes to be copied', () => statSync(file).mtimeMs < Date.now() - 100)
    const { mtimeNs } = statSync(file, { bigint: true })
    await one.queue.ask({ kind: 'compact', upTo: 2 * count })
    await until('the log to be copied', () => statSync(file, { bigint: true }).mtimeNs > mtimeNs)
    await one.queue.close()
  }
})

function rowsOf(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  const row = database.prepare('SELECT count(*) AS rows FROM log').get()
  database.close()
  return Number(row?.rows)
}

test('if the thread cannot start, this thread does everything, and a later start may succeed', async () => {
  const file = newFile()
  const one = new Try({ file, concurrentWritesMax: 9 })
  await one.alone(2)
  renameSync(file, `${file}.away`)
  mkdirSync(file)
  await one.together(11)
  const [unopened] = await Promise.allSettled([one.queue.ask({ kind: 'compact', upTo: 2 })])
  assert.match(String(unopened.status === 'rejected' && unopened.reason), /cannot be opened/)
  assert.match(one.queue.trouble() ?? '', /cannot be opened/)
  assert.equal(threads, 1)
  await one.together(9)
  await one.queue.ask({ kind: 'compact', upTo: 3 })
  assert.equal(threads, 1, 'too little company to try again')
  rmdirSync(file)
  renameSync(`${file}.away`, file)
  await until('the trouble to end', () => one.queue.trouble() === undefined)
  await one.together(2)
  assert.equal(threads, 2)
  await one.queue.ask({ kind: 'compact', upTo: 4 })
  await one.together(4)
  assert.deepEqual(one.revisions(), from(2, 28))
  await one.queue.close()
})

test('if the thread cannot start, a slow disk does not start it again at once', async () => {
  const file = newFile()
  const one = new Try({ file, elapsed: ticking(8) })
  renameSync(file, `${file}.away`)
  mkdirSync(file)
  await one.alone(9)
  await assert.rejects(one.queue.ask({ kind: 'compact', upTo: 2 }))
  await one.alone(30)
  assert.equal(threads, 1)
  rmdirSync(file)
})

test('if the thread cannot start, this thread deletes the old rows', async () => {
  const file = compactedUpTo(2100)
  const exited = new Promise((resolve) => {
    process.once('worker', (worker) => worker.once('exit', resolve))
  })
  const one = new Try({ file })
  renameSync(file, `${file}.away`)
  mkdirSync(file)
  await exited
  rmdirSync(file)
  renameSync(`${file}.away`, file)
  assert.equal(one.queue.trouble(), undefined, 'nobody waited for it')
  const database = new DatabaseSync(file, { readOnly: true })
  const state = database.prepare('SELECT swept FROM state')
  await until('all to be forgotten', () => state.get()?.swept === 2100)
  database.close()
})

test('the number of waiting writes is limited, and acknowledged ones no longer count', async () => {
  const one = new Try({ concurrentWritesMax: 1e9 })
  for (let round = 0; round < 2; round++) {
    const answers = Array.from({ length: 20_001 }, () => one.write())
    const settled = await Promise.allSettled(answers)
    const refused = settled.filter((answer) => answer.status === 'rejected')
    assert.match(
      String(refused.map(({ reason }) => reason)),
      /^StorageUnavailable: too many writes/,
    )
    assert.equal(refused.length, 1)
  }
})

test('the bytes of waiting writes are limited, and acknowledged ones no longer count', async () => {
  const one = new Try({ concurrentWritesMax: 1e9 })
  const bytes = Buffer.alloc(1024 * 1024)
  // The condition does not hold, so nothing reaches the disk.
  const write = () =>
    one.queue.write({ key: '/registry/a', bytes, ifRevision: 1, deadline: 0, ttlMs: 0 })
  for (let round = 0; round < 2; round++) {
    const settled = await Promise.allSettled(Array.from({ length: 257 }, write))
    const refused = settled.filter((answer) => answer.status === 'rejected')
    assert.equal(refused.length, 1)
    assert.equal(settled.at(-1)?.status, 'rejected')
    assert.match(String(refused[0]?.reason), /^StorageUnavailable: too many writes/)
  }
})

/** The next thread that is started. */
function nextThread(): Promise<Worker> {
  return new Promise((resolve) => process.once('worker', resolve))
}

test('if the thread is ended from outside, before or after its start, writes continue', async () => {
  const one = new Try({ concurrentWritesMax: 2 })
  const first = nextThread()
  await one.together(4)
  await (await first).terminate()
  await one.together(2)
  assert.equal(threads, 1)
  assert.equal(one.queue.trouble(), undefined)

  const second = nextThread()
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  assert.equal(threads, 2)
  const lost = one.queue.ask({ kind: 'compact', upTo: 3 })
  const ended = /the writer of the store has ended; what waited for it may have been written or not/
  await Promise.all([(await second).terminate(), assert.rejects(lost, ended)])
  assert.match(one.queue.trouble() ?? '', ended)
  await one.write()
  assert.equal(threads, 2, 'here')
  await until('the trouble to end', () => one.queue.trouble() === undefined)
  await one.together(4)
  await turn()
  assert.equal(threads, 3, 'and one is started again')
  await one.queue.ask({ kind: 'compact', upTo: 4 })
  assert.deepEqual(one.revisions(), from(2, 13))
})

test('a thread that ends while no write waits causes no error', async () => {
  const one = new Try({ concurrentWritesMax: 0 })
  const thread = nextThread()
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  await (await thread).terminate()
  assert.equal(one.queue.trouble(), undefined)
  await one.together(2)
  assert.deepEqual(one.revisions(), from(2, 4))
})

test('changes from before the start are not announced when a thread ends', async () => {
  const file = newFile()
  const before = new Try({ file, concurrentWritesMax: 9999 })
  await before.together(2100)
  await before.queue.close()
  const one = new Try({ file })
  const thread = nextThread()
  await one.queue.ask({ kind: 'compact', upTo: 2100 })
  await (await thread).terminate()
  assert.deepEqual(one.revisions(), [])
  assert.equal(won(await one.queue.write({ ...nothing, key: '/registry/next' })), 2102)
})

const nothing = { bytes: Buffer.alloc(0), ifRevision: 0, deadline: 0, ttlMs: 0 }

test('unreported writes of a thread are announced once, and the waiters get an unknown outcome', async () => {
  const file = newFile()
  const one = new Try({ file, concurrentWritesMax: 0 })
  const thread = nextThread()
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  const worker = await thread
  worker.removeAllListeners('message')
  const lost = Promise.allSettled([one.write(), one.write(), removal(one, '/registry/1', 3)])
  await until('the writes to be on the disk', () => rowsOf(file) === 5)
  assert.deepEqual(one.revisions(), [2, 3])
  await worker.terminate()
  for (const answer of await lost)
    assert.match(String(answer.status === 'rejected' && answer.reason), /written or not/)
  const [, reported] = one.batches.filter((batch) => batch.length > 0)
  assert.deepEqual(reported, [
    { key: '/registry/2', revision: 4, bytes: Buffer.from('x') },
    { key: '/registry/3', revision: 5, bytes: Buffer.from('x') },
    { key: '/registry/1', revision: 6, bytes: undefined },
  ])
  assert.deepEqual(await removal(one, '/registry/1', 3), { ok: false, current: undefined })
  assert.equal(won(await one.write()), 7)
  assert.deepEqual(one.revisions(), from(2, 6))
})

const removal = (one: Try, key: string, ifRevision: number) =>
  one.queue.write({ key, bytes: undefined, ifRevision, deadline: 0, ttlMs: 0 })

test("if the thread's writes cannot be determined, the queue fails", async (t) => {
  const one = new Try({ concurrentWritesMax: 0 })
  const thread = nextThread()
  await one.together(2)
  await one.queue.ask({ kind: 'compact', upTo: 2 })
  t.mock.method(DatabaseSync.prototype, 'prepare', () => {
    throw new Error('the disk failed')
  })
  await (await thread).terminate()
  const words = /has ended, and what it wrote is not known: the disk failed/
  assert.match(one.queue.trouble() ?? '', words)
  await assert.rejects(one.write(), words)
})

test('threads that end at any moment: announced changes are on disk, and so are acknowledged ones', async () => {
  const file = newFile()
  const one = new Try({ file, concurrentWritesMax: 0, checkpointBytes: 64 * 1024 })
  let worker: Worker | undefined
  const heard = (started: Worker) => {
    worker = started
  }
  process.on('worker', heard)
  const answered: number[] = []
  let unknown = 0
  const rounds = 24
  for (let round = 0; round < rounds; round++) {
    await one.together(2)
    answered.push(...one.revisions().slice(-2))
    // The thread does it when it has opened the database.
    await one.queue.ask({ kind: 'compact', upTo: 1 })
    const writes = Array.from({ length: 30 }, async () => {
      await turn()
      return one.write()
    })
    const settled = Promise.allSettled(writes)
    for (let i = 0; i < round % 6; i++) await turn()
    await sleep(round % 4)
    await worker?.terminate()
    for (const answer of await settled)
      if (answer.status === 'fulfilled') answered.push(won(answer.value))
      else unknown++
  }
  process.off('worker', heard)
  await until('the trouble to end', () => one.queue.trouble() === undefined)
  await one.queue.close()
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare('SELECT key, revision FROM log ORDER BY revision').all()
  database.close()
  const reported = one.batches.flat().map(({ key, revision }) => ({ key, revision }))
  assert.deepEqual(
    reported,
    rows.map((row) => ({ ...row })),
  )
  const there = new Set(one.revisions())
  assert.equal(new Set(reported.map(({ key }) => key)).size, reported.length, 'each once')
  assert.deepEqual(
    answered.filter((revision) => !there.has(revision)),
    [],
  )
  // How many more requests a thread processes before it ends depends on the machine.
  assert.ok(answered.length >= 2 * rounds && unknown > 0, `${answered.length}, ${unknown} not`)
})

test('a committed change that cannot be announced ends the queue, on either side', async () => {
  for (const concurrentWritesMax of [0, 100]) {
    const one = new Try({ concurrentWritesMax })
    await one.together(3)
    await one.queue.ask({ kind: 'compact', upTo: 2 })
    one.failure = new Error('nobody listens')
    const words = /what was written could not be announced: nobody listens/
    await assert.rejects(one.write(), words)
    await assert.rejects(one.write(), words)
    assert.match(one.queue.trouble() ?? '', words)
    await one.queue.close()
  }
})

test('closing waits until all writes are on disk, on either side', async () => {
  for (const concurrentWritesMax of [0, 100]) {
    const one = new Try({ concurrentWritesMax })
    await one.together(3)
    // With a thread, the thread processes these and later requests when it has opened the database.
    await one.queue.ask({ kind: 'compact', upTo: 2 })
    const answers = Array.from({ length: 20 }, () => one.write())
    const closed = one.queue.close()
    for (const answer of answers) won(await answer)
    await closed
    assert.deepEqual(one.revisions(), from(2, 23))
    await assert.rejects(one.write(), /the store is closed/)
    await assert.rejects(one.queue.ask({ kind: 'probe' }), /the store is closed/)
  }
})
