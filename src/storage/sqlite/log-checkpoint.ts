/**
 * The write-ahead log as one connection sees it: how long it is, and copying it into the database.
 *
 * SQLite begins the log anew with the first write after all of it was copied, if no reader uses it
 * then. So a copy that met a reader or another writer is tried again soon, and readers are waited
 * for longer the longer the log is:
 *
 *   limit 16 MiB:  at 16 copy, wait 20 ms   at 18, 20, 22 again   from 24 on wait 200 ms
 *
 * It never waits for a reader without end: one of another program may read for hours.
 */
import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { pageSizeBytes } from './schema.ts'

/** A page of the log with the header in front of it. */
const frameBytes = pageSizeBytes + 24

/**
 * How often the true length is looked up, in parts of the limit: the lookup takes three
 * microseconds.
 */
const lookParts = 64

/** How soon a copy that was not complete is tried again, in parts of the limit. */
const retryParts = 8

/**
 * How long readers of the log are awaited, while writers are blocked; and when the log is far
 * beyond its limit.
 */
const readersMs = 20
const readersMsMax = 200
const farRatio = 1.5

export interface LogOptions {
  readonly file: string
  /** How long the log may become before it is copied. */
  readonly checkpointBytes: number
  /** How long another writer is waited for; 0 for a connection that never waits. */
  readonly busyMs: number
}

export class LogCheckpoint {
  readonly #options: LogOptions
  readonly #database: DatabaseSync
  readonly #state: StatementSync
  readonly #copy: StatementSync
  readonly #copyAll: StatementSync
  readonly #truncate: StatementSync
  /** What is still to be copied, when it was last looked up. */
  #lengthBytes = 0
  /** What was added since, roughly. At first, anything may be there. */
  #addedBytes = Number.POSITIVE_INFINITY
  /** The length at which it is copied. */
  #dueBytes: number
  #failure: unknown

  constructor(database: DatabaseSync, options: LogOptions) {
    this.#options = options
    this.#database = database
    this.#dueBytes = options.checkpointBytes
    database.exec('PRAGMA wal_autocheckpoint = 0')
    // A log that begins anew gives back to the disk what is beyond its limit.
    database.exec(`PRAGMA journal_size_limit = ${options.checkpointBytes}`)
    this.#state = database.prepare('PRAGMA wal_checkpoint(NOOP)')
    this.#state.setReturnArrays(true)
    this.#copy = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    this.#copyAll = database.prepare('PRAGMA wal_checkpoint(RESTART)')
    this.#truncate = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  added(bytes: number): void {
    this.#addedBytes += bytes
  }

  /** Whether it should be copied into the database. */
  get isLong(): boolean {
    const limit = this.#options.checkpointBytes
    if (
      this.#lengthBytes + this.#addedBytes < this.#dueBytes &&
      this.#addedBytes < limit / lookParts
    )
      return false
    this.#look()
    if (this.#lengthBytes < limit) this.#dueBytes = limit
    return this.#lengthBytes >= this.#dueBytes
  }

  /**
   * Whether it outgrew its limit by far: a writer that cannot wait for readers should add nothing.
   */
  get isFarBeyond(): boolean {
    if (this.#isFar()) this.#look()
    return this.#isFar()
  }

  /** Why nothing may be added any more: it is twice as long as its limit and cannot be copied. */
  get failure(): unknown {
    return this.#lengthBytes >= 2 * this.#options.checkpointBytes ? this.#failure : undefined
  }

  /** Another connection copies it. */
  leave(): void {
    this.#dueBytes =
      Math.max(this.#options.checkpointBytes, this.#lengthBytes) +
      this.#options.checkpointBytes / retryParts
  }

  /**
   * Copies it into the database. What fails, as on a full disk, is tried again when the log has
   * grown.
   */
  copy(): void {
    this.#run(this.#copy)
    if (this.#options.busyMs > 0 && this.#failure === undefined) this.#runAlone(this.#copyAll)
    this.#look()
    this.leave()
  }

  /** Copies it and makes its file empty, unless a connection reads or writes. */
  empty(): void {
    this.#runAlone(this.#truncate)
    this.#look()
  }

  #run(statement: StatementSync): void {
    try {
      statement.run()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
    }
  }

  /** Readers and writers are awaited for a moment only, because writers are blocked meanwhile. */
  #runAlone(statement: StatementSync): void {
    const { busyMs } = this.#options
    const waitMs = Math.min(busyMs, this.#isFar() ? readersMsMax : readersMs)
    this.#database.exec(`PRAGMA busy_timeout = ${waitMs}`)
    this.#run(statement)
    this.#database.exec(`PRAGMA busy_timeout = ${busyMs}`)
  }

  #isFar(): boolean {
    return this.#lengthBytes >= this.#options.checkpointBytes * farRatio
  }

  #look(): void {
    this.#addedBytes = 0
    try {
      const [, frames, copied] = this.#state.get() as unknown as [number, number, number]
      this.#lengthBytes = copied === frames ? 0 : frames * frameBytes
    } catch {
      // The next transaction meets the same problem and reports it.
    }
  }
}

/** The size of its file, which keeps its size when the log begins anew. */
export const logFileBytes = (file: string): number =>
  statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
