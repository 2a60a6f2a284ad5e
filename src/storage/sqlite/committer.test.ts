/**
 * Failed transactions, and the length of the log: it is copied while others write, and compaction
 * adds to it too.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import test, { after } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Committer, type CommitterOptions } from './committer.ts'
import { deletion, type WriteAnswer, type QueuedWrite } from './protocol.ts'
import { createDatabase, pageSizeBytes } from './schema.ts'

const place = mkdtempSync(join(tmpdir(), 'committer-'))
after(() => rmSync(place, { recursive: true }))

let files = 0
function open(options: Partial<CommitterOptions> = {}): { file: string; committer: Committer } {
  const file = join(place, `${files++}.db`)
  createDatabase(file)
  const committer = new Committer({ file, ...defaults, ...options })
  return { file, committer }
}
const defaults = { checkpointBytes: 1024 * 1024, busyMs: 5000, sweeps: false }

function writeOf(count: number, size: number, ifRevision = (_: number) => 0): QueuedWrite {
  const keys = Array.from({ length: count }, (_, i) => `/registry/${i}`)
  const numbers = new Float64Array(keys.flatMap((_, i) => [ifRevision(i), size, 0, 0]))
  return { kind: 'write', keys, numbers, bytes: new Uint8Array(count * Math.max(size, 0)) }
}

test('a writing connection waits for the disk, and copies the log on request', (t) => {
  const connections = new Set<DatabaseSync>()
  const { exec } = DatabaseSync.prototype
  t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    connections.add(this)
    exec.call(this, sql)
  })
  const { file } = open()
  connections.clear()
  const committer = new Committer({ file, ...defaults })
  const [connection] = connections
  const setting = (name: string) => Object.values(connection?.prepare(`PRAGMA ${name}`).get() ?? {})
  assert.deepEqual(setting('journal_mode'), ['wal'])
  assert.deepEqual(setting('synchronous'), [2], 'FULL')
  assert.deepEqual(setting('wal_autocheckpoint'), [0])
  committer.close()
})

test('a failed transaction is undone, and the next one starts from the state of the database', () => {
  const { file, committer } = open()
  const other = new Committer({ file, ...defaults })
  other.transact([writeOf(3, 10)], 0)
  const mine: QueuedWrite = { ...writeOf(1, 10), keys: ['/registry/mine'] }
  const failed = committer.transact([mine, { kind: 'compact', upTo: 2 }], 0)
  assert.equal(failed.kind, 'failed', 'nobody said how far the other had come')
  assert.deepEqual({ ...failed, message: '' }, { ...failed, count: 2, message: '', isBusy: false })
  for (const ifRevision of [0, 5, 6]) {
    const { numbers } = writeOf(1, 10, () => ifRevision)
    const reply = committer.transact([{ ...mine, numbers }], 0)
    assert.deepEqual(reply, { kind: 'committed', answers: [written(Math.max(ifRevision, 4) + 1)] })
  }
  assert.equal(other.unswept(), 0, 'the compaction is undone too')
  other.close()
  committer.close()
})

function written(revision: number): WriteAnswer {
  return { revisions: new Float64Array([revision]), refused: [] }
}

test('exclusive work runs only while there is no writer', () => {
  const { file, committer } = open({ busyMs: 0 })
  const other = new Committer({ file, ...defaults, busyMs: 0 })
  let times = 0
  const meanwhile = () => {
    times++
    const reply = other.transact([writeOf(1, 10)], 0)
    assert.equal(reply.kind === 'failed' && reply.isBusy, true)
  }
  assert.equal(committer.alone(meanwhile), true)
  assert.throws(() => committer.alone(() => assert.fail('in vain')), /in vain/)
  assert.equal(
    other.alone(() => assert.equal(committer.alone(meanwhile), false)),
    true,
  )
  assert.equal(times, 1)
  assert.equal(other.transact([writeOf(1, 10)], 0).kind, 'committed')
  assert.equal(committer.transact([writeOf(1, 10)], 2).kind, 'committed')
  other.close()
  committer.close()
})

/** The length of the log in pages, as seen by a connection that does not write. */
function logOf(file: string): { log: number; checkpointed: number } {
  const database = new DatabaseSync(file)
  database.exec('SELECT count(*) FROM log')
  const row = database.prepare('PRAGMA wal_checkpoint(NOOP)').get()
  database.close()
  return row as { log: number; checkpointed: number }
}

/** Writes until it is stopped. */
const writing = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(workerData, { timeout: 5000 })
  database.exec('PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0')
  const move = database.prepare('UPDATE state SET swept = ?')
  let isOver = false
  parentPort.once('message', () => { isOver = true; database.close(); parentPort.close() })
  const turn = () => {
    for (let i = 0; i < 20 && !isOver; i++) move.run(i)
    if (!isOver) setImmediate(turn)
  }
  turn()
  parentPort.postMessage('begun')
`

test('a log that others extend meanwhile is copied to its end and reset', async () => {
  const { file, committer } = open()
  const other = new Worker(writing, { eval: true, workerData: file })
  await new Promise((resolve) => other.once('message', resolve))
  const lengths: number[] = []
  for (let i = 0; i < 40; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    committer.log.copy()
    lengths.push(logOf(file).log)
  }
  other.postMessage('stop')
  await new Promise((resolve) => other.once('exit', resolve))
  const restarts = lengths.filter((length, i) => length < (lengths[i - 1] ?? 0)).length
  assert.ok(restarts > 3, `${lengths}`)
  committer.close()
})

test('a reader delays the copy only briefly, and the timeout for writers is restored', () => {
  const busyMs = 400
  const { file, committer } = open({ busyMs })
  committer.transact([writeOf(10, 100)], 0)
  const reader = new DatabaseSync(file)
  reader.exec('BEGIN; SELECT count(*) FROM log')
  committer.transact([writeOf(10, 100, (i) => i + 2)], 0)
  const copyMs = took(() => committer.log.copy())
  assert.ok(copyMs < busyMs, `${copyMs}`)
  assert.ok(logOf(file).checkpointed < logOf(file).log)
  reader.exec('ROLLBACK')
  committer.log.copy()
  assert.equal(logOf(file).checkpointed, logOf(file).log)
  reader.exec('BEGIN IMMEDIATE')
  const waitMs = took(() => assert.equal(committer.transact([], 0).kind, 'failed'))
  assert.ok(waitMs > busyMs / 2, `${waitMs}`)
  reader.close()
  committer.close()
})

function took(work: () => void): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

test('each probe reaches the disk and changes nothing', () => {
  const { file, committer } = open()
  committer.transact([writeOf(3, 10), { kind: 'compact', upTo: 2 }], 0)
  for (let i = 0; i < 3; i++) {
    const reply = committer.transact([{ kind: 'probe' }], 0)
    assert.deepEqual(reply, { kind: 'committed', answers: [undefined] })
    const { log, checkpointed } = logOf(file)
    assert.ok(log > checkpointed, `${log}`)
  }
  assert.equal(committer.unswept(), 2)
  const next: QueuedWrite = { ...writeOf(1, 10), keys: ['/registry/next'] }
  assert.deepEqual(committer.transact([next], 0), { kind: 'committed', answers: [written(5)] })
  committer.close()
})

test("a failed copy of the log is repeated soon, and writes stop at twice the log's limit", (t) => {
  const checkpointBytes = 400_000
  const { file, committer } = open({ checkpointBytes, busyMs: 0 })
  let revision = 1
  const write = () =>
    committer.transact([{ ...writeOf(1, 10), keys: [`/registry/${revision++}`] }], 0)
  const untilLong = () => {
    let writes = 0
    do {
      assert.equal(write().kind, 'committed')
      writes++
    } while (!committer.log.isLong)
    return writes
  }
  const whole = untilLong()
  const { run } = StatementSync.prototype
  const copied = t.mock.method(
    StatementSync.prototype,
    'run',
    function (this: StatementSync, ...values: unknown[]) {
      if (!this.sourceSQL.includes('wal_checkpoint')) return Reflect.apply(run, this, values)
      throw Object.assign(new Error('the disk is full'), { errcode: 13 })
    },
  )
  committer.log.copy()
  const again = untilLong()
  assert.ok(again > 1 && again < whole / 4, `${again} of ${whole}`)
  while (committer.log.failure === undefined) {
    assert.equal(write().kind, 'committed')
    if (committer.log.isLong) committer.log.copy()
  }
  assert.ok(logOf(file).log * pageSizeBytes < 2.2 * checkpointBytes)
  const reply = write()
  const words = `the database ${file} cannot be used: the disk is full (the disk is full)`
  assert.equal(reply.kind === 'failed' && reply.message, words)
  assert.equal(committer.transact([{ kind: 'probe' }], 0).kind, 'failed')
  copied.mock.restore()
  assert.equal(write().kind, 'failed', 'only a probe copies again')
  assert.equal(committer.transact([{ kind: 'probe' }], 0).kind, 'committed')
  assert.ok(untilLong() >= whole - 2, 'and then as usual')
  committer.close()
})

test('deletions of a compaction enlarge the log like writes', () => {
  const { committer } = open({ sweeps: true, checkpointBytes: 128 * 1024 })
  const count = 150
  committer.transact([writeOf(count, 10)], 0)
  committer.transact([writeOf(count, deletion, (i) => i + 2)], 0)
  committer.log.copy()
  assert.equal(committer.log.isLong, false)
  assert.equal(committer.unswept(2 * count + 1), 2 * count + 1)
  committer.transact([{ kind: 'compact', upTo: 2 * count + 1 }], 0)
  assert.equal(committer.log.isLong, false, 'the deletions are still to come')
  assert.equal(committer.isSweeping, true)
  assert.equal(committer.sweep(), true, 'a little at a time')
  assert.equal(committer.log.isLong, false)
  while (committer.sweep()) assert.equal(committer.isSweeping, true)
  assert.equal(committer.isSweeping, false)
  assert.equal(committer.log.isLong, true)
  assert.equal(committer.unswept(), 0)
  committer.close()
  assert.equal(committer.unswept(), 0, 'where nothing can be read nothing is known')
})
