/**
 * The live picture of one resource: every object, ordered by key, the recent past, and who watches. It is changed only
 * by the feed, in the order of revisions.
 */
import { SortedMap, type SortedSnapshot } from '#base/sorted-map.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Change, Revision } from '#storage/storage.ts'
import type { Entry } from './entry.ts'
import type { EntryMaker } from './entry-maker.ts'
import { FanOut } from './fan-out.ts'
import { type CacheEvent, History, type HistoryLimits } from './history.ts'

/** Snapshots kept for the next pages of lists under way: each holds only what changed since. */
const snapshotsMax = 32

export class ResourceCache {
  readonly resource: Resource
  readonly fanOut = new FanOut()
  readonly history: History
  readonly #maker: EntryMaker
  readonly #entries = new SortedMap<Entry>()
  readonly #snapshots = new Map<Revision, SortedSnapshot<Entry>>()
  /** Changes up to this revision are in the picture already. */
  readonly #loadedAt: Revision
  #lastChange: Revision

  constructor(
    resource: Resource,
    maker: EntryMaker,
    loaded: { entries: Entry[]; revision: Revision },
    limits: HistoryLimits,
  ) {
    this.resource = resource
    this.#maker = maker
    this.#loadedAt = loaded.revision
    this.#lastChange = loaded.revision
    this.history = new History(loaded.revision, limits)
    for (const entry of loaded.entries) this.#entries.set(entry.key, entry)
  }

  get size(): number {
    return this.#entries.size
  }

  /** The revision of this picture when everything up to `seen` has arrived: what was loaded may be newer. */
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

  visit(start: string, end: string, visit: (entry: Entry) => boolean | undefined | void): void {
    this.#entries.visit(start, end, visit)
  }

  count(start: string, end: string): number {
    return this.#entries.count(start, end)
  }

  /** A picture that stays as it is, for the pages of one list. */
  snapshot(at: Revision): SortedSnapshot<Entry> {
    const known = this.#snapshots.get(at)
    if (known !== undefined) return known
    const taken = this.#entries.snapshot()
    this.#snapshots.set(at, taken)
    if (this.#snapshots.size > snapshotsMax) {
      this.#snapshots.delete(this.#snapshots.keys().next().value as Revision)
    }
    return taken
  }

  /** The picture as it was at a revision, where it is still at hand. */
  snapshotAt(revision: Revision): SortedSnapshot<Entry> | undefined {
    if (revision >= this.#lastChange) return this.snapshot(revision)
    return this.#snapshots.get(revision)
  }

  apply(change: Change, nowMs: number): void {
    if (change.revision <= this.#loadedAt) return
    this.#lastChange = change.revision
    const entry =
      change.bytes === undefined
        ? undefined
        : this.#maker.make(change.key, change.revision, change.bytes, this.fanOut.isFollowed)
    const previous =
      entry === undefined ? this.#entries.delete(change.key) : this.#entries.set(change.key, entry)
    if (entry === undefined && previous === undefined) return
    const event: CacheEvent = {
      revision: change.revision,
      entry,
      previous,
      at: nowMs,
      frames: new Map(),
    }
    this.history.push(event)
    this.fanOut.publish(event)
  }
}
