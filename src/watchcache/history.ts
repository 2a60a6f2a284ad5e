/**
 * The recent changes of one resource, oldest first. For a revision that is no longer kept it
 * returns `undefined`; the watch then reads the store's history, or its client lists again. It
 * never blocks a write and is limited in size.
 */
import type { Revision } from '#storage/storage.ts'
import type { Entry } from './entry.ts'

export interface CacheEvent {
  readonly revision: Revision
  /** Undefined for a deletion. */
  readonly entry: Entry | undefined
  /** Undefined for a creation. */
  readonly previous: Entry | undefined
  /** The time of the event by a monotonic clock, in milliseconds. */
  readonly at: number
  /** The event's share of the memory limit. */
  readonly bytes: number
  /** Encoded frames by shape and event type, shared by all watchers; undefined until the first. */
  frames: Map<string, Buffer> | undefined
}

export interface HistoryLimits {
  /** The maximum number of events. */
  readonly eventsMax: number
  /** How long events are kept: five minutes, as in kube-apiserver. */
  readonly ageMsMax: number
  /** The maximum bytes of objects, because thousands of large objects could exhaust memory. */
  readonly bytesMax?: number
}

/**
 * Events evicted by this byte limit are still served from the store; only frequent writes of large
 * objects exceed it.
 */
export const historyBytesMax = 64 << 20

export function cacheEvent(
  revision: Revision,
  entry: Entry | undefined,
  previous: Entry | undefined,
  at: number,
): CacheEvent {
  const bytes = (entry ?? previous)?.cut.bytes.length ?? 0
  return { revision, entry, previous, at, bytes, frames: undefined }
}

/**
 * The array is compacted after this many evictions; for fewer, moving the others is not worthwhile.
 */
const droppedMin = 512

export class History {
  #events: CacheEvent[] = []
  #first = 0
  /** All events after this revision are kept. */
  #startsAfter: Revision
  readonly #limits: HistoryLimits
  readonly #bytesMax: number
  #bytes = 0

  constructor(startsAfter: Revision, limits: HistoryLimits) {
    this.#startsAfter = startsAfter
    this.#limits = limits
    this.#bytesMax = limits.bytesMax ?? historyBytesMax
  }

  get startsAfter(): Revision {
    return this.#startsAfter
  }

  push(event: CacheEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes
    const oldest = event.at - this.#limits.ageMsMax
    while (
      this.#bytes > this.#bytesMax ||
      this.#events.length - this.#first > this.#limits.eventsMax ||
      this.#events[this.#first]?.at < oldest
    ) {
      const dropped = this.#events[this.#first]
      this.#bytes -= dropped.bytes
      this.#events[this.#first++] = undefined as never
      this.#startsAfter = dropped.revision
    }
    if (this.#first > droppedMin && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first)
      this.#first = 0
    }
  }

  /** The events after a revision; undefined if some are no longer kept. */
  after(revision: Revision): CacheEvent[] | undefined {
    if (revision < this.#startsAfter) return undefined
    let low = this.#first
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#events[middle].revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#events.slice(low)
  }
}
