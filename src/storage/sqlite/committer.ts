/**
 * A connection that changes the database: requests that came together go into one transaction, so that one sync of the disk
 * serves them all, and the reply exists only after that sync. The server's thread has one and the writer's thread has one;
 * SQLite's lock keeps them apart. It knows no thread and no timer, and begins nothing by itself.
 */
import { statfsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Change, Revision } from '#storage/storage.ts'
import { describeFailure } from './failure.ts'
import type { Answer, Reply, Request, WriterOptions } from './protocol.ts'
import { pageSizeBytes } from './schema.ts'
import { Transaction } from './transaction.ts'

/** What even the smallest transaction adds to the log: a page of the table and one of its index, whole. */
const transactionBytesMin = 2 * pageSizeBytes

/** Revisions swept at a time: a few milliseconds, which the writes behind it have to wait. */
const sweepStep = 200

/** Room that ends the trouble of a full disk: enough for some writes of any size a client may send. */
const roomBytesMin = 1024 * 1024

/** How long copying all of the log waits for those who read from it: nobody can write meanwhile. */
const copyBusyMs = 20

/** SQLite's codes: somebody else is writing; the disk is full. */
const sqliteBusy = 5
const sqliteFull = 13

export interface CommitterOptions extends WriterOptions {
  /** How long another writer is waited for. */
  readonly busyMs: number
  /** Whether it forgets, along with its transactions, what compaction left to forget. */
  readonly sweeps: boolean
}

interface LogRow {
  readonly key: string
  readonly revision: Revision
  readonly deleted: number
  readonly value: Uint8Array | null
}

export class Committer {
  #options: CommitterOptions
  #database: DatabaseSync
  #transaction: Transaction
  #begin: StatementSync
  #commit: StatementSync
  #copy: StatementSync
  #copyAll: StatementSync
  /** What this connection added to the log since it was last told to copy it into the database. */
  #loggedBytes = 0
  /** Whether a compaction, perhaps of an earlier run, still has rows to forget. */
  #sweeping: boolean

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#sweeping = options.sweeps
    this.#database = new DatabaseSync(options.file, { timeout: options.busyMs })
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    this.#database.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY')
    this.#database.exec(`PRAGMA journal_size_limit = ${options.checkpointBytes * 4}`)
    this.#transaction = new Transaction(this.#database)
    this.#begin = this.#database.prepare('BEGIN IMMEDIATE')
    this.#commit = this.#database.prepare('COMMIT')
    this.#copy = this.#database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    this.#copyAll = this.#database.prepare('PRAGMA wal_checkpoint(FULL)')
  }

  /** `newest` is the newest revision known to whoever asks. */
  transact(requests: readonly Request[], newest: Revision): Reply {
    let answers: Answer[]
    try {
      this.#begin.run()
      this.#transaction.follow(newest)
      answers = requests.map((request) => this.#answer(request))
      if (this.#sweeping) this.#sweeping = this.#sweepStep()
      this.#commit.run()
    } catch (error) {
      const isBusy = !this.#database.isTransaction && codeOf(error) === sqliteBusy
      this.#rollBack()
      const message = describeFailure(error, this.#options.file)
      return { kind: 'failed', count: requests.length, message, isBusy }
    }
    this.#loggedBytes += transactionBytesMin
    for (const request of requests) this.#loggedBytes += sizeBytes(request)
    return { kind: 'committed', answers }
  }

  /** The newest revision that is on the disk. */
  newestRevision(): Revision {
    return this.#transaction.newestRevision()
  }

  /** What is on the disk after a revision, whoever wrote it, in order. */
  changesAfter(revision: Revision): Change[] {
    const sql = 'SELECT key, revision, deleted, value FROM log WHERE revision > ? ORDER BY revision'
    return this.#database
      .prepare(sql)
      .all(revision)
      .map((row) => {
        const { key, revision, deleted, value } = row as unknown as LogRow
        const bytes = deleted ? undefined : Buffer.from(value ?? [])
        return { key, revision, bytes }
      })
  }

  get isSweeping(): boolean {
    return this.#sweeping
  }

  /** How many revisions there are to look through for what may be forgotten, after a compaction up to here or the last one. */
  unswept(upTo?: Revision): number {
    try {
      return (upTo ?? this.#transaction.compacted()) - this.#transaction.swept()
    } catch {
      // Whoever compacts meets the same trouble and says so.
      return 0
    }
  }

  /** Forgets a little and says whether there is more; where that fails, the next transaction takes it up again. */
  sweep(): boolean {
    try {
      this.#begin.run()
      const isMore = this.#sweepStep()
      this.#commit.run()
      this.#sweeping = isMore && this.#options.sweeps
      this.#loggedBytes += transactionBytesMin
      return isMore
    } catch {
      this.#rollBack()
      return false
    }
  }

  #sweepStep(): boolean {
    const { isMore, rows } = this.#transaction.sweep(sweepStep)
    this.#loggedBytes += rows * pageSizeBytes
    return isMore
  }

  /** Does something to the files while no connection can write. Says whether it was done: somebody may be writing. */
  alone(work: () => void): boolean {
    try {
      this.#begin.run()
    } catch {
      return false
    }
    try {
      work()
    } finally {
      this.#database.exec('ROLLBACK')
    }
    return true
  }

  /** Whether the log should be copied into the database. */
  get isLogLong(): boolean {
    return this.#loggedBytes >= this.#options.checkpointBytes
  }

  /** Somebody else copies the log. */
  forgetLog(): void {
    this.#loggedBytes = 0
  }

  /** Copies the log into the database. A disk too full for it takes writes no worse: it is tried again later. */
  checkpoint(): void {
    this.#loggedBytes = 0
    try {
      this.#copy.run()
      if (this.#options.busyMs > 0) this.#copyRest()
    } catch {
      this.#loggedBytes = this.#options.checkpointBytes >>> 1
    }
  }

  /** What others wrote while it was copied: the log begins anew only when all of it is, so for this they are kept from it. */
  #copyRest(): void {
    this.#database.exec(`PRAGMA busy_timeout = ${copyBusyMs}`)
    try {
      this.#copyAll.run()
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${this.#options.busyMs}`)
    }
  }

  close(): void {
    this.#database.close()
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
        this.#sweeping = this.#options.sweeps
        return undefined
      case 'probe':
        requireRoom(this.#options.file)
        this.#transaction.probe()
        return undefined
    }
  }

  #rollBack(): void {
    this.#sweeping = this.#options.sweeps
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      this.#transaction.reset()
    } catch {
      // The next transaction meets the same trouble and says so.
    }
  }
}

/** What a request adds to the log, roughly: its values and the page of the index that each of its keys touches. */
export function sizeBytes(request: Request): number {
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

function codeOf(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff
}
