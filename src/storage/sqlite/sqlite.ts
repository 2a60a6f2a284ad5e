/**
 * The embedded store: one SQLite file. A write is acknowledged when it is on disk; the feed
 * delivers it before the writer gets the result. The feed delivers the buffers passed to put and
 * never reads them back.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type TimerClock } from '#base/clock.ts'
import { Feed, type FeedOptions } from '#storage/feed.ts'
import {
  type Change,
  type KeyRange,
  type Outcome,
  type Page,
  type PutCondition,
  type AtRevision,
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
  type Stored,
} from '#storage/storage.ts'
import {
  databaseFileName,
  type DirectoryLock,
  inspectDatabase,
  lockDirectory,
} from './data-directory.ts'
import { availableBytes, logBytesFor, smallestDiskBytes } from './disk-space.ts'
import { Expirer } from './expirer.ts'
import { unavailable } from './failure.ts'
import { Reader, rowsPerTurn } from './reader.ts'
import { RemainingMemo } from './remaining-memo.ts'
import { createDatabase } from './schema.ts'
import { WriteQueue } from './write-queue.ts'

/**
 * The minimum pause between two compactions on a nearly full disk: the effect of one must show
 * before the next.
 */
const shortenEveryMs = 500

export interface SqliteOptions {
  /** The data directory; created if it is missing. */
  readonly directory: string
  readonly clock?: TimerClock
  /** The log is copied into the database at this size; if unset, a share of the disk's size. */
  readonly checkpointBytes?: number
  /** The number of concurrent writes after which a writer thread is started. */
  readonly concurrentWritesMax?: number
  /** Called once if the disk is too small to last. */
  readonly warn?: (message: string) => void
}

/**
 * Opens the store in a directory. Throws StorageUnavailable with the faulty file and the reason.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const file = join(options.directory, databaseFileName)
  const lock = lockDirectory(options.directory)
  try {
    if (inspectDatabase(file) === 'nothing') createDatabase(file)
    return new SqliteStorage(file, lock, options)
  } catch (error) {
    lock.release()
    throw unavailable(error, file)
  }
}

class SqliteStorage implements Storage {
  #file: string
  /** Identifies the opened file even if another file replaces it. */
  #inode: number
  #lock: DirectoryLock
  #writer: WriteQueue
  #reader: Reader
  #feed: Feed
  #revision: Revision
  #compactedUpTo: Revision
  #expirer: Expirer
  #remaining = new RemainingMemo()
  /** Long lists in progress, with their revision: a compaction waits until they are done. */
  #listing = new Map<Promise<unknown>, Revision>()
  #closing: Promise<void> | undefined
  #closed: StorageUnavailable | undefined
  #shortenedAt = Number.NEGATIVE_INFINITY
  /** The failure of the last read: a damaged row or a failing disk. */
  #readTrouble: string | undefined

  constructor(file: string, lock: DirectoryLock, options: SqliteOptions) {
    this.#file = file
    this.#inode = statSync(file).ino
    this.#lock = lock
    this.#reader = new Reader(file)
    this.#compactedUpTo = this.#reader.compacted()
    this.#revision = this.#reader.newestRevision()
    this.#feed = new Feed({
      history: (after) => this.#read((reader) => reader.changes(after, this.#revision)),
      compactedUpTo: () => this.#compactedUpTo,
    })
    const available = availableBytes(file)
    if (available < smallestDiskBytes) options.warn?.(tooSmall(options.directory, available))
    const checkpointBytes = options.checkpointBytes ?? logBytesFor(available)
    this.#writer = new WriteQueue(
      { file, checkpointBytes, concurrentWritesMax: options.concurrentWritesMax },
      {
        committed: (changes) => this.#committed(changes),
        diskShort: (isFull) => this.#shortenHistory(isFull),
      },
    )
    this.#expirer = new Expirer(options.clock ?? systemClock, this.#writer)
    this.#expirer.start()
  }

  async get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>> {
    const revision = this.#readable(at)
    return { revision, value: this.#read((reader) => reader.get(key, revision)) }
  }

  async list(
    range: KeyRange,
    options: { at?: Revision; limit?: number } = {},
  ): Promise<AtRevision<Page>> {
    const revision = this.#readable(options.at)
    const limit = options.limit || Number.POSITIVE_INFINITY
    const items = this.#read((reader) => reader.list(range, revision, Math.min(limit, rowsPerTurn)))
    if (items.length === rowsPerTurn && items.length < limit) {
      await this.#guarded(this.#listOn(items, range, revision, limit), revision)
    }
    return { revision, value: this.#page(items, range, revision, limit) }
  }

  async count(range: KeyRange): Promise<AtRevision<number>> {
    const revision = this.#readable(undefined)
    return { revision, value: this.#read((reader) => reader.count(range, revision)) }
  }

  put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome> {
    if (this.#closed) return Promise.reject(this.#closed)
    const ttlMs = Math.round((condition.ttlSeconds ?? 0) * 1000)
    const deadline = ttlMs > 0 ? this.#expirer.deadline(ttlMs) : 0
    return this.#writer.write({ key, bytes, ifRevision: condition.ifRevision, deadline, ttlMs })
  }

  delete(key: string, { ifRevision }: { ifRevision: Revision }): Promise<Outcome> {
    if (this.#closed) return Promise.reject(this.#closed)
    return this.#writer.write({ key, bytes: undefined, ifRevision, deadline: 0, ttlMs: 0 })
  }

  changes(options: FeedOptions): AsyncIterable<Change[]> {
    return this.#feed.read(options)
  }

  currentRevision(): Revision {
    return this.#revision
  }

  compactedUpTo(): Revision {
    return this.#compactedUpTo
  }

  async compact(upTo: Revision): Promise<void> {
    if (this.#closed) throw this.#closed
    if (upTo > this.#revision) throw new RevisionInFuture(this.#revision)
    if (upTo <= this.#compactedUpTo) return
    this.#compactedUpTo = upTo
    const before = [...this.#listing].filter(([, revision]) => revision < upTo)
    await Promise.allSettled(before.map(([listing]) => listing))
    await this.#writer.ask({ kind: 'compact', upTo })
  }

  /** Compacts half of the history, or all of it if the disk is full, to free space for writes. */
  #shortenHistory(isFull: boolean): void {
    const now = performance.now()
    if (this.#closed || now - this.#shortenedAt < shortenEveryMs) return
    this.#shortenedAt = now
    const kept = this.#revision - this.#compactedUpTo
    const upTo = isFull ? this.#revision : this.#compactedUpTo + Math.floor(kept / 2)
    // If this fails, the writer reports trouble and checks the disk again.
    this.compact(upTo).catch(() => {})
  }

  trouble(): string | undefined {
    return (
      this.#writer.trouble() ?? this.#readTrouble ?? this.#closed?.message ?? this.#displacement()
    )
  }

  /** The operating system lets the store write to a removed file as long as it is open. */
  #displacement(): string | undefined {
    try {
      if (statSync(this.#file).ino === this.#inode) return undefined
    } catch {}
    return `the database ${this.#file} was removed or replaced while it is in use: what is written now will be lost`
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#closed = new StorageUnavailable('the store is closed')
    this.#expirer.stop()
    this.#feed.end(this.#closed)
    // The writer closes last, because the last connection to close copies the log into the
    // database.
    this.#reader.close()
    await this.#writer.close()
    this.#lock.release()
  }

  #committed(changes: Change[]): void {
    const last = changes.at(-1)
    if (!last) return
    this.#revision = last.revision
    this.#feed.publish(changes)
  }

  /** The revision of a read; 0 and undefined mean the newest. */
  #readable(at: Revision | undefined): Revision {
    if (this.#closed) throw this.#closed
    if (!at) return this.#revision
    if (at > this.#revision) throw new RevisionInFuture(this.#revision)
    if (at < this.#compactedUpTo) throw new RevisionCompacted(this.#compactedUpTo)
    return at
  }

  #read<T>(read: (reader: Reader) => T): T {
    if (this.#closed) throw this.#closed
    try {
      const answer = read(this.#reader)
      this.#readTrouble = undefined
      return answer
    } catch (error) {
      const failure = unavailable(error, this.#file)
      this.#readTrouble = failure.message
      throw failure
    }
  }

  /**
   * Reads a long list in several turns of the event loop, so that other requests do not wait for
   * it.
   */
  async #listOn(items: Stored[], range: KeyRange, at: Revision, limit: number): Promise<void> {
    for (;;) {
      await new Promise(setImmediate)
      const start = after(items[items.length - 1].key)
      const wanted = Math.min(limit - items.length, rowsPerTurn)
      const more = this.#read((reader) => reader.list({ start, end: range.end }, at, wanted))
      for (const item of more) items.push(item)
      if (more.length < rowsPerTurn || items.length >= limit) return
    }
  }

  async #guarded<T>(listing: Promise<T>, revision: Revision): Promise<T> {
    this.#listing.set(listing, revision)
    try {
      return await listing
    } finally {
      this.#listing.delete(listing)
    }
  }

  #page(items: Stored[], range: KeyRange, at: Revision, limit: number): Page {
    if (items.length < limit) return { items, more: false, remaining: 0 }
    const rest = { start: after(items[items.length - 1].key), end: range.end }
    const remaining = this.#remaining.of(range, rest, at, items.length, () =>
      this.#read((reader) => reader.count(rest, at)),
    )
    return { items, more: remaining > 0, remaining }
  }
}

function tooSmall(directory: string, available: number): string {
  const [found, needed] = [available, smallestDiskBytes].map((bytes) => Math.floor(bytes / 1e6))
  return `the data directory ${directory} has ${found} MB for the state, and at least ${needed} MB are needed: writes may be refused soon`
}

/** The smallest key greater than `key`. */
function after(key: string): string {
  return `${key}\0`
}
