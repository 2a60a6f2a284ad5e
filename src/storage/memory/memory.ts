/**
 * A store in memory for tests and temporary servers. It is the simplest implementation of the
 * contract, and the reference for the others. All data is lost when the process ends.
 */
import { elapsedMs, systemClock, type TimerClock } from '#base/clock.ts'
import { DeadlineTimer } from '#storage/deadline-timer.ts'
import { Feed, type FeedOptions } from '#storage/feed.ts'
import { compareKeys, lowerBound } from '#storage/key-order.ts'
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
  type StoreState,
} from '#storage/storage.ts'
import { type Expiring, ExpiryQueue } from './expiry-queue.ts'
import { LayeredMap } from './layered-map.ts'

/**
 * Changes per read of a reader that catches up: enough to be quick, few enough not to block others.
 */
const historyBatchMax = 1000

export function createMemoryStorage(options: { clock?: TimerClock } = {}): MemoryStorage {
  return new MemoryStorage(options.clock ?? systemClock)
}

/** A store without its history, as plain data. */
export interface SavedStore {
  readonly revision: Revision
  readonly items: [key: string, revision: Revision, bytes: Uint8Array][]
  /** Deadlines in milliseconds from now. */
  readonly expiring: readonly Expiring[]
}

const everyKey: KeyRange = { start: '', end: '\u{10ffff}' }

/**
 * The changes of one key, oldest first. A store appends only to histories that it owns; a fork owns
 * none at first.
 */
interface History {
  owner: object
  changes: Change[]
}

export class MemoryStorage implements Storage {
  /** As in etcd, an empty store is at revision 1, so that a list has a valid resourceVersion. */
  #revision: Revision = 1
  #compactedUpTo: Revision = 0
  /** Every change since the compaction, oldest first. */
  #log: Change[] = []
  /** The keys that have a version, sorted. */
  #keys: string[] = []
  /** The versions of a key, oldest first: at most one at or before the compaction. */
  #versions = new LayeredMap<History>()
  /** Histories with another owner are shared with a fork and copied before the first append. */
  #owner: object = {}
  /** Identifies the current state if its revision is the current one. */
  #state: StoreState = { revision: 0 }
  #origin: StoreState | undefined
  #expiring = new ExpiryQueue()
  readonly #clock: TimerClock
  #elapsed: () => number
  #timer: DeadlineTimer
  #feed: Feed
  #closed: StorageUnavailable | undefined

  constructor(clock: TimerClock) {
    this.#clock = clock
    this.#elapsed = () => elapsedMs(clock)
    this.#timer = new DeadlineTimer(clock, { now: this.#elapsed, due: () => this.#expire() })
    this.#feed = new Feed({
      history: (after) => this.#history(after),
      compactedUpTo: () => this.#compactedUpTo,
    })
  }

  /**
   * A second store with the same revision, objects and history, which are shared until one side
   * writes. Times to live continue in the fork.
   */
  fork(clock: TimerClock = this.#clock): MemoryStorage {
    if (this.#closed) throw this.#closed
    const fork = new MemoryStorage(clock)
    fork.#revision = this.#revision
    fork.#compactedUpTo = this.#compactedUpTo
    fork.#log = this.#log.slice()
    fork.#keys = this.#keys.slice()
    fork.#versions = this.#versions.fork()
    this.#owner = {}
    if (this.#state.revision !== this.#revision) this.#state = { revision: this.#revision }
    fork.#origin = this.#state
    fork.#state = this.#state
    fork.#expiring = this.#expiring.shifted(fork.#elapsed() - this.#elapsed())
    fork.#wantExpiry()
    return fork
  }

  /** The newest version of every key, and times to live as they remain. */
  save(): SavedStore {
    if (this.#closed) throw this.#closed
    const items: SavedStore['items'] = []
    for (const stored of this.#storedIn(everyKey, this.#revision))
      items.push([stored.key, stored.revision, stored.bytes])
    const expiring = this.#expiring.shifted(-this.#elapsed()).entries()
    return { revision: this.#revision, items, expiring }
  }

  /**
   * A store in a saved state. Its history begins there: reads at older revisions throw
   * RevisionCompacted.
   */
  static restored(
    { revision, items, expiring }: SavedStore,
    clock: TimerClock = systemClock,
  ): MemoryStorage {
    const store = new MemoryStorage(clock)
    for (const [key, at, bytes] of items) {
      const change = { key, revision: at, bytes: Buffer.from(bytes) }
      store.#versions.set(key, { owner: store.#owner, changes: [change] })
      store.#insertKey(key)
    }
    store.#revision = revision
    store.#compactedUpTo = revision
    for (const { deadline, ...entry } of expiring)
      store.#expiring.add({ ...entry, deadline: deadline + store.#elapsed() })
    store.#wantExpiry()
    return store
  }

  origin(): StoreState | undefined {
    return this.#origin
  }

  async get(key: string, at?: Revision): Promise<AtRevision<Stored | undefined>> {
    const revision = this.#readable(at)
    return { revision, value: this.#storedAt(key, revision) }
  }

  async list(
    range: KeyRange,
    options: { at?: Revision; limit?: number } = {},
  ): Promise<AtRevision<Page>> {
    const revision = this.#readable(options.at)
    const limit = options.limit || Number.POSITIVE_INFINITY
    const items: Stored[] = []
    let next: string | undefined
    for (const stored of this.#storedIn(range, revision)) {
      if (items.length === limit) {
        next = stored.key
        break
      }
      items.push(stored)
    }
    const rest = { start: next ?? range.end, end: range.end }
    const count = () => this.#countIn(rest, revision)
    // Counted only if it is read: a reader of all pages would count everything once per page.
    const page = {
      items,
      more: next !== undefined,
      get remaining() {
        return count()
      },
    }
    return { revision, value: page }
  }

  async count(range: KeyRange): Promise<AtRevision<number>> {
    const revision = this.#readable(undefined)
    return { revision, value: this.#countIn(range, revision) }
  }

  put(key: string, bytes: Buffer, condition: PutCondition): Promise<Outcome> {
    if (this.#closed) return Promise.reject(this.#closed)
    const current = this.#storedAt(key, this.#revision)
    if ((current?.revision ?? 0) !== condition.ifRevision) {
      return Promise.resolve({ ok: false, current })
    }
    const revision = this.#commit(key, bytes)
    if (condition.ttlSeconds) {
      const deadline = this.#elapsed() + condition.ttlSeconds * 1000
      this.#expiring.add({ deadline, key, revision })
      this.#timer.want(deadline)
    }
    return Promise.resolve({ ok: true, revision })
  }

  delete(key: string, condition: { ifRevision: Revision }): Promise<Outcome> {
    if (this.#closed) return Promise.reject(this.#closed)
    const current = this.#storedAt(key, this.#revision)
    if (current === undefined || current.revision !== condition.ifRevision) {
      return Promise.resolve({ ok: false, current })
    }
    return Promise.resolve({ ok: true, revision: this.#commit(key, undefined) })
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
    const kept = this.#log.findIndex((change) => change.revision > upTo)
    const forgotten = kept < 0 ? this.#log : this.#log.slice(0, kept)
    this.#log = kept < 0 ? [] : this.#log.slice(kept)
    const gone = new Set<string>()
    for (const { key } of forgotten) if (this.#trim(key, upTo)) gone.add(key)
    if (gone.size > 0) this.#keys = this.#keys.filter((key) => !gone.has(key))
  }

  trouble(): string | undefined {
    return this.#closed?.message
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = new StorageUnavailable('the store is closed')
    this.#timer.stop()
    this.#feed.end(this.#closed)
  }

  /** The revision to read at; 0 and undefined mean the newest. */
  #readable(at: Revision | undefined): Revision {
    if (this.#closed) throw this.#closed
    if (!at) return this.#revision
    if (at > this.#revision) throw new RevisionInFuture(this.#revision)
    if (at < this.#compactedUpTo) throw new RevisionCompacted(this.#compactedUpTo)
    return at
  }

  #commit(key: string, bytes: Buffer | undefined): Revision {
    const change: Change = { key, revision: ++this.#revision, bytes }
    const history = this.#versions.get(key)
    if (history?.owner === this.#owner) {
      history.changes.push(change)
    } else {
      const changes = history === undefined ? [change] : [...history.changes, change]
      this.#versions.set(key, { owner: this.#owner, changes })
      if (history === undefined) this.#insertKey(key)
    }
    this.#log.push(change)
    this.#feed.publish([change])
    return change.revision
  }

  #insertKey(key: string): void {
    const last = this.#keys.at(-1)
    if (last === undefined || compareKeys(last, key) < 0) this.#keys.push(key)
    else this.#keys.splice(lowerBound(this.#keys, key), 0, key)
  }

  #storedAt(key: string, at: Revision): Stored | undefined {
    const versions = this.#versions.get(key)?.changes
    if (!versions) return undefined
    for (let i = versions.length - 1; i >= 0; i--) {
      const version = versions[i]
      if (version.revision <= at)
        return version.bytes === undefined ? undefined : (version as Stored)
    }
    return undefined
  }

  *#storedIn(range: KeyRange, at: Revision): Generator<Stored> {
    const keys = this.#keys
    const end = lowerBound(keys, range.end)
    for (let i = lowerBound(keys, range.start); i < end; i++) {
      const stored = this.#storedAt(keys[i], at)
      if (stored) yield stored
    }
  }

  #countIn(range: KeyRange, at: Revision): number {
    let count = 0
    for (const _ of this.#storedIn(range, at)) count++
    return count
  }

  /** Deletes versions of a key that were compacted; returns true if none is left. */
  #trim(key: string, upTo: Revision): boolean {
    const versions = this.#versions.get(key)?.changes
    if (!versions) return false
    let from = 0
    while (from + 1 < versions.length && versions[from + 1].revision <= upTo) from++
    const oldest = versions[from]
    if (oldest.revision <= upTo && oldest.bytes === undefined) from++
    if (from === versions.length) this.#versions.delete(key)
    else if (from > 0)
      this.#versions.set(key, { owner: this.#owner, changes: versions.slice(from) })
    return from === versions.length
  }

  #history(after: Revision): Change[] {
    let low = 0
    let high = this.#log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#log[middle].revision <= after) low = middle + 1
      else high = middle
    }
    return this.#log.slice(low, low + historyBatchMax)
  }

  #expire(): void {
    for (const { key, revision } of this.#expiring.takeDue(this.#elapsed())) {
      if (this.#storedAt(key, this.#revision)?.revision === revision) this.#commit(key, undefined)
    }
    this.#wantExpiry()
  }

  #wantExpiry(): void {
    const next = this.#expiring.nextDeadline()
    if (next !== undefined) this.#timer.want(next)
  }
}
