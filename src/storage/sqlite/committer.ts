/**
 * A connection that writes to the database. Requests that arrive together share one transaction, so
 * one sync serves them all. The reply exists only after the sync. The server's thread and the
 * writer thread each have a committer; SQLite's lock separates them. It uses no threads and no
 * timers.
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
 * The smallest transaction adds a whole page of the table and a whole page of the index to the log.
 */
const transactionBytesMin = 2 * pageSizeBytes

/** Revisions swept per step: a few milliseconds, for which later writes wait. */
const sweepStepMax = 200

/**
 * The pages that one swept revision changes at most, and the share of a full log that one step may
 * change.
 */
const sweptPages = 2
const sweepShare = 1 / 2

/** With this many times the log's size free, no further check of the disk is necessary. */
const plentyLogs = 16

/** SQLite's code: another connection is writing. */
const sqliteBusy = 5

export interface CommitterOptions extends WriterOptions {
  /** How long it waits for another writer. */
  readonly busyMs: number
  /** Whether its transactions also delete old rows after a compaction. */
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
  /** Whether old rows remain to be deleted after a compaction, possibly of an earlier run. */
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

  /** The number of revisions to search for old rows, up to `upTo` or the last compaction. */
  unswept(upTo?: Revision): number {
    try {
      return (upTo ?? this.#transaction.compacted()) - this.#transaction.swept()
    } catch {
      // The next compaction reports the same failure.
      return 0
    }
  }

  /**
   * Deletes some old rows; returns whether more remain. If it fails, the next transaction
   * continues.
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
   * Runs `work` on the files while no connection can write. Returns false if another connection is
   * writing.
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
   * How much the store may still grow. This is the free space of the disk plus unused pages. Pages
   * that the log has to add and the rest of its file are subtracted. The log must also have space
   * for twice its limit.
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
      // The write reports the same failure.
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
      // The next transaction reports the same failure.
    }
  }
}

/** An estimate of what a request adds to the log: its values, and one index page per key. */
export function sizeBytes(request: Request): number {
  if (request.kind !== 'write') return 4096
  return request.bytes.length + request.keys.length * 4096
}

function codeOf(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff
}
