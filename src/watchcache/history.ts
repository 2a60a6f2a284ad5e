/**
 * The recent past of one resource: its changes, oldest first. A watcher that requests a revision
 * older than the ring gets `undefined`, and reads the store's history or lists again. It never
 * blocks a write and never grows past its limits.
 */
import type { Revision } from '#storage/storage.ts'
import type { Entry } from './entry.ts'

export interface CacheEvent {
  readonly revision: Revision
  /** Undefined for a deletion. */
  readonly entry: Entry | undefined
  /** Undefined for a creation. */
  readonly previous: Entry | undefined
  /**
   * When it happened, in milliseconds by a clock that does not jump: how old it is in the history.
   */
  readonly at: number
  /** What it keeps in memory, as far as it counts. */
  readonly bytes: number
  /** Frames already made of this event, by shape and type, shared by every watcher. */
  readonly frames: Map<string, Buffer>
}

export interface HistoryLimits {
  /** Most events kept: bounds the memory of a resource that is written all the time. */
  readonly eventsMax: number
  /** How long events are promised to be kept: the five minutes of the specification. */
  readonly ageMsMax: number
  /** Most bytes of their objects: a few thousand large ones are more than the machine has. */
  readonly bytesMax?: number
}

/**
 * Events evicted by this byte limit are still served from the store: only busy large objects exceed
 * it.
 */
export const historyBytesMax = 64 << 20

export function cacheEvent(
  revision: Revision,
  entry: Entry | undefined,
  previous: Entry | undefined,
  at: number,
): CacheEvent {
  const bytes = (entry ?? previous)?.cut.bytes.length ?? 0
  return { revision, entry, previous, at, bytes, frames: new Map() }
}

/**
 * Places of dropped events are given back from so many on: fewer are not worth moving the others
 * for.
 */
const droppedMin = 512

export class History {
  #events: CacheEvent[] = []
  #first = 0
  /** Everything after this revision is kept. */
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

  /** Everything after a revision, or undefined where that is no longer kept. */
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
