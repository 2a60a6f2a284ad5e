/**
 * The watch cache of one resource: all objects ordered by key, the recent history, and the
 * watchers. Only the feed changes it, in the order of revisions.
 */
import type { SortedMap, SortedSnapshot } from '#base/sorted-map.ts'
import type { Resource } from '#kinds/kind.ts'
import {
  amongOthers,
  asUnreadable,
  type Change,
  type KeyRange,
  type Revision,
  type Unreadable,
} from '#storage/storage.ts'
import type { Entry } from './entry.ts'
import type { EntryMaker } from './entry-maker.ts'
import { FanOut } from './fan-out.ts'
import { cacheEvent, History, type HistoryLimits } from './history.ts'
import { LabelIndex } from './label-index.ts'

/**
 * Snapshots kept for the next pages of paginated lists. A snapshot shares unchanged objects with
 * the cache; an old one may share none.
 */
const snapshotsMax = 32
/** After this time the store serves the next page, if it still has the history. */
const snapshotMsMax = 300_000
/** From this number of objects on, an index replaces the scan for a label. */
const indexedFrom = 256

/**
 * The objects in a range of keys, in order: the source of lists and of the initial events of
 * watches.
 */
export interface Picture {
  visit(start: string, end: string, visit: (entry: Entry) => boolean | undefined | void): void
  count(start: string, end: string): number
}

/** A label and value that all matching objects have. */
export interface RequiredLabel {
  readonly key: string
  readonly value: string
}

interface KeptSnapshot {
  readonly picture: SortedSnapshot<Entry>
  /** When the eviction first found the snapshot. */
  seenAtMs: number | undefined
}

let pictures = 0

export class ResourceCache {
  /** Unique in this process. Cached results derived from this cache use it in their key. */
  readonly id = ++pictures
  readonly resource: Resource
  readonly fanOut = new FanOut()
  readonly history: History
  /**
   * The errors of keys whose stored values cannot be read. The cache keeps the previous object for
   * the next event of the key. Readers get the error until then.
   */
  readonly #unreadable: Map<string, Unreadable>
  readonly #maker: EntryMaker
  readonly #entries: SortedMap<Entry>
  readonly #snapshots = new Map<Revision, KeptSnapshot>()
  /** Changes up to this revision were part of the initial load. */
  readonly #loadedAt: Revision
  #lastChange: Revision
  readonly #labels = new LabelIndex()

  constructor(
    resource: Resource,
    maker: EntryMaker,
    loaded: { entries: SortedMap<Entry>; revision: Revision; unreadable?: Map<string, Unreadable> },
    limits: HistoryLimits,
  ) {
    this.resource = resource
    this.#maker = maker
    this.#loadedAt = loaded.revision
    this.#lastChange = loaded.revision
    this.history = new History(loaded.revision, limits)
    this.#unreadable = loaded.unreadable ?? new Map()
    this.#entries = loaded.entries
  }

  get size(): number {
    return this.#entries.size
  }

  /** The cache's revision after the feed delivered `seen`; the initial load may be newer. */
  revisionAt(seen: Revision): Revision {
    return Math.max(seen, this.#lastChange)
  }

  /** The revision of the last change. Cached results with an older revision are outdated. */
  get lastChange(): Revision {
    return this.#lastChange
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  /** Throws if the value stored under a key cannot be read. */
  requireReadable(key: string): void {
    const error = this.#unreadable.size === 0 ? undefined : this.#unreadable.get(key)
    if (error !== undefined) throw error
  }

  /** Throws if a value in a range cannot be read; reports the first. */
  requireReadableIn({ start, end }: KeyRange): void {
    if (this.#unreadable.size === 0) return
    const keys = [...this.#unreadable.keys()].filter((key) => key >= start && key < end)
    const [first] = keys.sort()
    if (first !== undefined) throw amongOthers(first, this.#unreadable.get(first) as Unreadable)
  }

  visit(start: string, end: string, visit: (entry: Entry) => boolean | undefined | void): void {
    this.#entries.visit(start, end, visit)
  }

  count(start: string, end: string): number {
    return this.#entries.count(start, end)
  }

  /**
   * The objects with a label, at most `most`. Undefined if there are more, or if a scan is faster.
   */
  labelled({ key, value }: RequiredLabel, most: number): Picture | undefined {
    if (this.#entries.size < indexedFrom) return undefined
    const found = this.#labels.holders(key, value, this.#entries.values())
    if (found.length > most || found.length * 2 > this.#entries.size) return undefined
    return pictureOf(found)
  }

  /** An immutable snapshot of the current state, for the pages of one list. */
  snapshot(at: Revision): SortedSnapshot<Entry> {
    const known = this.#snapshots.get(at)
    if (known !== undefined) return known.picture
    const taken = this.#entries.snapshot()
    this.#snapshots.set(at, { picture: taken, seenAtMs: undefined })
    if (this.#snapshots.size > snapshotsMax) {
      this.#snapshots.delete(this.#snapshots.keys().next().value as Revision)
    }
    return taken
  }

  /** The snapshot at a revision, if it still exists. */
  snapshotAt(revision: Revision): SortedSnapshot<Entry> | undefined {
    if (revision >= this.#lastChange) return this.snapshot(revision)
    return this.#snapshots.get(revision)?.picture
  }

  /** Evicts old snapshots: lists that clients abandoned must not keep deleted objects in memory. */
  forgetSnapshots(nowMs: number): void {
    for (const [revision, kept] of this.#snapshots) {
      kept.seenAtMs ??= nowMs
      if (nowMs - kept.seenAtMs >= snapshotMsMax) this.#snapshots.delete(revision)
    }
  }

  apply(change: Change, nowMs: number): void {
    if (change.revision <= this.#loadedAt) return
    this.#lastChange = change.revision
    const entry = change.bytes === undefined ? undefined : this.#entryOf(change, change.bytes)
    this.#unreadable.delete(change.key)
    const previous =
      entry === undefined ? this.#entries.delete(change.key) : this.#entries.set(change.key, entry)
    if (entry === undefined && previous === undefined) return
    this.#labels.replace(previous, entry)
    const event = cacheEvent(change.revision, entry, previous, nowMs)
    this.history.push(event)
    this.fanOut.publish(event)
  }

  #entryOf({ key, revision }: Change, bytes: Buffer): Entry {
    try {
      return this.#maker.make(key, revision, bytes, this.fanOut.isFollowed)
    } catch (error) {
      this.#unreadable.set(key, asUnreadable(error))
      // Watches would silently miss this change, so they end. New watches are rejected until the
      // value can be read.
      this.fanOut.endPresent()
      throw error
    }
  }
}

/** A few objects, sorted by key. */
export function pictureOf(entries: Entry[]): Picture {
  entries.sort((a, b) => (a.key < b.key ? -1 : 1))
  const within = (start: string, end: string) =>
    entries.filter(({ key }) => key >= start && key < end)
  return {
    visit(start, end, visit) {
      for (const entry of within(start, end)) if (visit(entry) === false) return
    },
    count: (start, end) => within(start, end).length,
  }
}
