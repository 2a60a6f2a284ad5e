/**
 * A connection that changes the database: requests that came together go into one transaction, so
 * that one sync of the disk serves them all, and the reply exists only after that sync. The
 * server's thread has one and the writer's thread has one; SQLite's lock keeps them apart. It knows
 * no thread and no timer, and begins nothing by itself.
 */
import { statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Change, Revision } from '#storage/storage.ts'
import { freeBytes } from './disk-space.ts'
import { describeFailure } from './failure.ts'
import { LogCheckpoint, logFileBytes } from './log-checkpoint.ts'
import type { CommitAnswer, Reply, Request, WriterOptions } from './protocol.ts'
import { pageSizeBytes } from './schema.ts'
import { Transaction } from './transaction.ts'

/**
 * What even the smallest transaction adds to the log: a page of the table and one of its index,
 * whole.
 */
const transactionBytesMin = 2 * pageSizeBytes

/** Revisions swept at a time: a few milliseconds, which the writes behind it have to wait. */
const sweepStepMax = 200

/**
 * The pages that a swept revision changes at most, and how many of the pages of a whole log one
 * step may change.
 */
const sweptPages = 2
const sweepShare = 1 / 2

/** With so many lengths of the log free, nothing else about the disk counts. */
const plentyLogs = 16

/** SQLite's code: another connection is writing. */
const sqliteBusy = 5

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
  #log: LogCheckpoint
  #pages: StatementSync
  #unusedPages: StatementSync
  #sweepStep: number
  /** Whether a compaction, perhaps of an earlier run, still has rows to forget. */
  #sweeping: boolean

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#sweeping = options.sweeps
    this.#database = new DatabaseSync(options.file, { timeout: options.busyMs })
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    this.#database.exec('PRAGMA temp_store = MEMORY')
    this.#log = new LogCheckpoint(this.#database, options)
    this.#transaction = new Transaction(this.#database)
    this.#begin = this.#database.prepare('BEGIN IMMEDIATE')
    this.#commit = this.#database.prepare('COMMIT')
    this.#pages = this.#database.prepare('PRAGMA page_count')
    this.#unusedPages = this.#database.prepare('PRAGMA freelist_count')
    const pagesPerStep = (options.checkpointBytes * sweepShare) / pageSizeBytes
    this.#sweepStep = Math.max(1, Math.min(sweepStepMax, Math.floor(pagesPerStep / sweptPages)))
  }

  /** `newest` is the newest revision known to the caller. */
  transact(requests: readonly Request[], newest: Revision): Reply {
    let answers: CommitAnswer[]
    try {
      if (requests.some(({ kind }) => kind === 'probe')) this.#log.copy()
      if (this.#log.failure !== undefined) throw this.#log.failure
      this.#begin.run()
      this.#transaction.follow(newest)
      answers = requests.map((request) => this.#answer(request))
      if (this.#sweeping) this.#sweeping = this.#forgetSome()
      this.#commit.run()
    } catch (error) {
      const isBusy = !this.#database.isTransaction && codeOf(error) === sqliteBusy
      this.#rollBack()
      const message = describeFailure(error, this.#options.file)
      return { kind: 'failed', count: requests.length, message, isBusy }
    }
    let added = transactionBytesMin
    for (const request of requests) added += sizeBytes(request)
    this.#log.added(added)
    return { kind: 'committed', answers }
  }

  /** The newest revision that is on the disk. */
  newestRevision(): Revision {
    return this.#transaction.newestRevision()
  }

  /** The committed changes after a revision, of all writers, in order. */
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

  /**
   * How many revisions there are to look through for what may be forgotten, after a compaction up
   * to here or the last one.
   */
  unswept(upTo?: Revision): number {
    try {
      return (upTo ?? this.#transaction.compacted()) - this.#transaction.swept()
    } catch {
      // Compaction meets the same problem and reports it.
      return 0
    }
  }

  /**
   * Forgets a little and says whether there is more; where that fails, the next transaction takes
   * it up again.
   */
  sweep(): boolean {
    try {
      this.#begin.run()
      const isMore = this.#forgetSome()
      this.#commit.run()
      this.#sweeping = isMore && this.#options.sweeps
      this.#log.added(transactionBytesMin)
      return isMore
    } catch {
      this.#rollBack()
      return false
    }
  }

  #forgetSome(): boolean {
    const { isMore, rows } = this.#transaction.sweep(this.#sweepStep)
    this.#log.added(rows * pageSizeBytes)
    return isMore
  }

  /**
   * Does something to the files while no connection can write. Returns whether it was done: another
   * connection may be writing.
   */
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

  get log(): LogCheckpoint {
    return this.#log
  }

  /**
   * What the store may still grow by: what the disk has left and unused pages of the database,
   * without the pages that the log will add to it and without what its file lacks of its limit. The
   * file must be able to become twice as long, too.
   */
  spareBytes(): number {
    const { file, checkpointBytes } = this.#options
    try {
      const free = freeBytes(file)
      if (free >= checkpointBytes * plentyLogs) return free
      const pagesBytes = (statement: StatementSync) =>
        Number(Object.values(statement.get() ?? {})[0]) * pageSizeBytes
      const growth = Math.max(0, pagesBytes(this.#pages) - statSync(file).size)
      const beside = free + logFileBytes(file)
      const inDatabase = beside - checkpointBytes + pagesBytes(this.#unusedPages) - growth
      return Math.min(inDatabase, beside + checkpointBytes)
    } catch {
      // The write itself meets the same problem and reports it.
      return Number.POSITIVE_INFINITY
    }
  }

  close(): void {
    this.#database.close()
  }

  #answer(request: Request): CommitAnswer {
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
      // The next transaction meets the same problem and reports it.
    }
  }
}

/**
 * What a request adds to the log, roughly: its values and the page of the index that each of its
 * keys touches.
 */
export function sizeBytes(request: Request): number {
  if (request.kind !== 'write') return 4096
  return request.bytes.length + request.keys.length * 4096
}

function codeOf(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff
}
