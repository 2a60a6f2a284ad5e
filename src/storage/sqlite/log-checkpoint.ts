/**
 * Measures the write-ahead log of one connection, and copies it into the database (a checkpoint).
 *
 * SQLite resets the log at the first write after a complete copy, if no reader uses the log then.
 * So a copy that met a reader or another writer is soon repeated. The longer the log, the longer a
 * copy waits for readers:
 *
 *   limit 16 MiB:  at 16 copy, wait 20 ms   at 18, 20, 22 again   from 24 on wait 200 ms
 *
 * The wait is limited, because a reader in another program may read for hours.
 */
import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { pageSizeBytes } from './schema.ts'

/** A page of the log with the header in front of it. */
const frameBytes = pageSizeBytes + 24

/**
 * The true length is checked after writes of this fraction of the limit; the check takes three
 * microseconds.
 */
const lookParts = 64

/** An incomplete copy is repeated after writes of this fraction of the limit. */
const retryParts = 8

/**
 * How long a copy waits for readers while writers are blocked: normally, and if the log exceeds its
 * limit by `farRatio`.
 */
const readersMs = 20
const readersMsMax = 200
const farRatio = 1.5

export interface LogOptions {
  readonly file: string
  /** The length at which the log is copied. */
  readonly checkpointBytes: number
  /** How long it waits for another writer; 0 for a connection that never waits. */
  readonly busyMs: number
}

export class LogCheckpoint {
  readonly #options: LogOptions
  readonly #database: DatabaseSync
  readonly #state: StatementSync
  readonly #copy: StatementSync
  readonly #copyAll: StatementSync
  readonly #truncate: StatementSync
  /** The bytes still to be copied at the last check. */
  #lengthBytes = 0
  /**
   * An estimate of the bytes added since the last check. It is infinite at first, because the log
   * may contain anything.
   */
  #addedBytes = Number.POSITIVE_INFINITY
  /** The length at which the next copy is due. */
  #dueBytes: number
  #failure: unknown

  constructor(database: DatabaseSync, options: LogOptions) {
    this.#options = options
    this.#database = database
    this.#dueBytes = options.checkpointBytes
    database.exec('PRAGMA wal_autocheckpoint = 0')
    // When SQLite resets the log, it truncates the file to its limit.
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

  /** Whether the log should be copied into the database. */
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
   * Whether the log exceeds its limit so far that a writer that cannot wait for readers should not
   * write.
   */
  get isFarBeyond(): boolean {
    if (this.#isFar()) this.#look()
    return this.#isFar()
  }

  /** Why no more writes are accepted: the log has twice its limit and cannot be copied. */
  get failure(): unknown {
    return this.#lengthBytes >= 2 * this.#options.checkpointBytes ? this.#failure : undefined
  }

  /** Postpones the next copy, because another connection copies the log. */
  leave(): void {
    this.#dueBytes =
      Math.max(this.#options.checkpointBytes, this.#lengthBytes) +
      this.#options.checkpointBytes / retryParts
  }

  /**
   * Copies the log into the database. A copy that fails, for example on a full disk, is repeated
   * when the log has grown.
   */
  copy(): void {
    this.#run(this.#copy)
    if (this.#options.busyMs > 0 && this.#failure === undefined) this.#runAlone(this.#copyAll)
    this.#look()
    this.leave()
  }

  /** Copies the log and truncates its file, unless another connection reads or writes. */
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

  /** Waits only briefly for readers and writers, because writers are blocked meanwhile. */
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
      // The next transaction reports the same failure.
    }
  }
}

/** The size of the log's file, which a reset does not change. */
export const logFileBytes = (file: string): number =>
  statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
