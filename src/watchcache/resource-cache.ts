/**
 * The live picture of one resource: every object, ordered by key, the recent past, and the
 * watchers. It is changed only by the feed, in the order of revisions.
 */
import { SortedMap, type SortedSnapshot } from '#base/sorted-map.ts'
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
 * Snapshots kept for the next pages of lists under way: each holds only what changed since, in the
 * end everything.
 */
const snapshotsMax = 32
/** A later request for the next page is answered from the store, as long as it has the history. */
const snapshotMsMax = 300_000
/** From this many objects on an index replaces the scan for a label. */
const indexedFrom = 256

/** What lists and watches begin with: the objects of a range of keys, in their order. */
export interface Picture {
  visit(start: string, end: string, visit: (entry: Entry) => boolean | undefined | void): void
  count(start: string, end: string): number
}

/** A label that all wanted objects have, with its value. */
export interface SoughtLabel {
  readonly key: string
  readonly value: string
}

interface KeptSnapshot {
  readonly picture: SortedSnapshot<Entry>
  /** When it was first met among the old ones. */
  seenAtMs: number | undefined
}

let pictures = 0

export class ResourceCache {
  /**
   * Unique among all pictures of this process: what is derived at a revision belongs to one
   * picture.
   */
  readonly id = ++pictures
  readonly resource: Resource
  readonly fanOut = new FanOut()
  readonly history: History
  /**
   * Why what is stored under a key cannot be read. The picture keeps the previous object, for the
   * event that comes when the value can be read, or is gone; until then no reader may get it.
   */
  readonly #unreadable: Map<string, Unreadable>
  readonly #maker: EntryMaker
  readonly #entries = new SortedMap<Entry>()
  readonly #snapshots = new Map<Revision, KeptSnapshot>()
  /** Changes up to this revision are in the picture already. */
  readonly #loadedAt: Revision
  #lastChange: Revision
  readonly #labels = new LabelIndex()

  constructor(
    resource: Resource,
    maker: EntryMaker,
    loaded: { entries: Entry[]; revision: Revision; unreadable?: Map<string, Unreadable> },
    limits: HistoryLimits,
  ) {
    this.resource = resource
    this.#maker = maker
    this.#loadedAt = loaded.revision
    this.#lastChange = loaded.revision
    this.history = new History(loaded.revision, limits)
    this.#unreadable = loaded.unreadable ?? new Map()
    for (const entry of loaded.entries) this.#entries.set(entry.key, entry)
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * The revision of this picture when everything up to `seen` has arrived: what was loaded may be
   * newer.
   */
  revisionAt(seen: Revision): Revision {
    return Math.max(seen, this.#lastChange)
  }

  /** Grows with every change of this resource: what was made of an older picture is stale. */
  get lastChange(): Revision {
    return this.#lastChange
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  /** Throws where what is stored under a key cannot be read. */
  requireReadable(key: string): void {
    const error = this.#unreadable.size === 0 ? undefined : this.#unreadable.get(key)
    if (error !== undefined) throw error
  }

  /** Throws where something of a range cannot be read: of the first. */
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
   * The objects with a label, if that is quicker than a scan; undefined if it is not, or if there
   * are more.
   */
  labelled({ key, value }: SoughtLabel, most: number): Picture | undefined {
    if (this.#entries.size < indexedFrom) return undefined
    const found = this.#labels.holders(key, value, this.#entries.values())
    if (found.length > most || found.length * 2 > this.#entries.size) return undefined
    return pictureOf(found)
  }

  /** A picture that stays as it is, for the pages of one list. */
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

  /** The picture as it was at a revision, where it is still at hand. */
  snapshotAt(revision: Revision): SortedSnapshot<Entry> | undefined {
    if (revision >= this.#lastChange) return this.snapshot(revision)
    return this.#snapshots.get(revision)?.picture
  }

  /** To be called now and then: abandoned lists must not keep deleted objects. */
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
      // Watches would silently miss a change: they end, and new ones are rejected until it can be
      // delivered.
      this.fanOut.endPresent()
      throw error
    }
  }
}

/** A few objects, in the order of their keys. */
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
