/**
 * The writer's thread: the only one that changes the database. All requests that wait when a transaction ends go into
 * the next one, so that one sync of the disk serves them all; an answer leaves only after that sync.
 */
import { statfsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { assert } from '#base/assert.ts'
import { describeFailure } from './failure.ts'
import { makeRoom } from './log-room.ts'
import type { Answer, Reply, Request, WriterOptions } from './protocol.ts'
import { pageSizeBytes } from './schema.ts'
import { Transaction } from './transaction.ts'

/** Values in one transaction: beyond it the first of them would wait too long for the last. */
const transactionBytesMax = 16 * 1024 * 1024

/** What even the smallest transaction adds to the log: a page of the table and one of its index, whole. */
const transactionBytesMin = 2 * pageSizeBytes

/** Revisions swept at a time: a few milliseconds, which the writes behind it have to wait. */
const sweepStep = 200

/** When room in the log is made: not while the server starts. */
const roomAfterMs = 500

/** Room that ends the trouble of a full disk: enough for some writes of any size a client may send. */
const roomBytesMin = 1024 * 1024

/** SQLite's code for a full disk. */
const sqliteFull = 13

class Writer {
  #port: MessagePort
  #options: WriterOptions
  #database: DatabaseSync
  #transaction: Transaction
  #begin: StatementSync
  #commit: StatementSync
  /** What the log beside the database has grown by since it was last copied into it. */
  #loggedBytes = 0
  /** Whether a compaction, perhaps of an earlier run, still has rows to forget. */
  #sweeping = true
  #sweepTimer: NodeJS.Immediate | undefined
  #isClosed = false

  constructor(port: MessagePort, options: WriterOptions) {
    this.#port = port
    this.#options = options
    this.#database = new DatabaseSync(options.file, { timeout: 5000 })
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    this.#database.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY')
    this.#database.exec(`PRAGMA journal_size_limit = ${options.checkpointBytes * 4}`)
    this.#transaction = new Transaction(this.#database)
    this.#begin = this.#database.prepare('BEGIN IMMEDIATE')
    this.#commit = this.#database.prepare('COMMIT')
  }

  start(): void {
    this.#port.on('message', (request: Request) => this.#serve(request))
    this.#sweepSoon()
    setTimeout(() => this.#makeRoom(), roomAfterMs).unref()
  }

  #makeRoom(): void {
    const { file, checkpointBytes } = this.#options
    makeRoom({
      file: `${file}-wal`,
      sizeBytes: checkpointBytes,
      isOver: () => this.#isClosed,
    })
  }

  #serve(first: Request): void {
    const requests = this.#withWaiting(first)
    const closing = requests.findIndex((request) => request.kind === 'close')
    const work = closing < 0 ? requests : requests.slice(0, closing)
    if (work.length > 0) this.#transact(work)
    if (closing >= 0) this.#close()
    else if (this.#sweeping) this.#sweepSoon()
  }

  #withWaiting(first: Request): Request[] {
    const requests = [first]
    let size = sizeBytes(first)
    while (size < transactionBytesMax) {
      const waiting = receiveMessageOnPort(this.#port) as { message: Request } | undefined
      if (!waiting) break
      requests.push(waiting.message)
      size += sizeBytes(waiting.message)
    }
    return requests
  }

  #transact(requests: Request[]): void {
    let answers: Answer[]
    try {
      this.#begin.run()
      answers = requests.map((request) => this.#answer(request))
      if (this.#sweeping) this.#sweeping = this.#transaction.sweep(sweepStep)
      this.#commit.run()
    } catch (error) {
      this.#rollBack()
      const message = describeFailure(error, this.#options.file)
      this.#send({ kind: 'failed', count: requests.length, message })
      return
    }
    this.#send({ kind: 'committed', answers })
    this.#loggedBytes += transactionBytesMin
    for (const request of requests) this.#loggedBytes += sizeBytes(request)
    if (this.#loggedBytes >= this.#options.checkpointBytes) this.#checkpoint()
  }

  #answer(request: Request): Answer {
    switch (request.kind) {
      case 'write':
        return this.#transaction.write(request)
      case 'expire':
        return this.#transaction.expire(request.now)
      case 'shift':
        return this.#transaction.shift(request.byMs)
      case 'settle':
        return this.#transaction.settle(request.now)
      case 'compact':
        this.#transaction.compact(request.upTo)
        this.#sweeping = true
        return undefined
      case 'probe':
        requireRoom(this.#options.file)
        this.#transaction.probe()
        return undefined
      case 'close':
        throw new Error('closing is no part of a transaction')
    }
  }

  #rollBack(): void {
    this.#sweeping = true
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      this.#transaction.reset()
    } catch {
      // The next transaction meets the same trouble and says so.
    }
  }

  /** Copies the log into the database. A disk too full for it takes writes no worse: it is tried again later. */
  #checkpoint(): void {
    this.#loggedBytes = 0
    try {
      this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      this.#loggedBytes = this.#options.checkpointBytes >>> 1
    }
  }

  #sweepSoon(): void {
    this.#sweepTimer ??= setImmediate(() => {
      this.#sweepTimer = undefined
      this.#sweepOnce()
    })
  }

  #sweepOnce(): void {
    try {
      this.#begin.run()
      this.#sweeping = this.#transaction.sweep(sweepStep)
      this.#commit.run()
    } catch {
      // Forgetting can wait: the next transaction takes it up again.
      this.#rollBack()
      return
    }
    if (this.#sweeping) this.#sweepSoon()
  }

  #close(): void {
    this.#isClosed = true
    clearImmediate(this.#sweepTimer)
    try {
      this.#database.close()
    } finally {
      this.#send({ kind: 'closed' })
      this.#port.close()
    }
  }

  #send(reply: Reply): void {
    this.#port.postMessage(reply)
  }
}

/** What a request adds to the log, roughly: its values and the page of the index that each of its keys touches. */
function sizeBytes(request: Request): number {
  if (request.kind !== 'write') return 4096
  return request.bytes.length + request.keys.length * 4096
}

/** Refuses, as SQLite would, a disk on which only the smallest write still fits. */
function requireRoom(file: string): void {
  const { bavail, bsize } = statfsSync(file)
  const free = bavail * bsize
  if (free >= roomBytesMin) return
  throw Object.assign(new Error(`only ${free} bytes are free`), { errcode: sqliteFull })
}

assert(parentPort, 'the writer is started as a thread')
const options = workerData as WriterOptions
try {
  new Writer(parentPort, options).start()
  // A server that is killed leaves no compiled code behind for its next start, so it is left early.
  setTimeout(flushCompileCache, 2000).unref()
} catch (error) {
  const reply: Reply = { kind: 'unopened', message: describeFailure(error, options.file) }
  parentPort.postMessage(reply)
}
