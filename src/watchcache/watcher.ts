/**
 * The bounded queue of one watch: events that are not yet written to its client. If it is full, the
 * watch ends and its client lists again; other watches are unaffected.
 */
import type { Entry } from './entry.ts'
import type { Revision } from '#storage/storage.ts'
import { Batch, type EventType, type WatchItem } from './batch.ts'
import type { BatchSubscriber, Subscriber } from './fan-out.ts'
import { type CacheEvent, historyBytesMax } from './history.ts'

/** Maximum number of events queued for a slow client: about a second of a very busy resource. */
export const watcherQueueLengthMax = 10_000
/**
 * Maximum bytes of the queued objects: as much as the history holds, and as much again while the
 * client reads that.
 */
const queueBytesMax = 2 * historyBytesMax

export class Watcher implements Subscriber {
  readonly namespace: string
  readonly matches: ((entry: Entry) => boolean) | undefined
  #queue: Batch[] = []
  #queued = 0
  #queuedBytes = 0
  #ended = false
  /** Called when events are available, or the watch has ended. */
  wake: () => void = () => {}

  constructor(namespace: string, matches: ((entry: Entry) => boolean) | undefined) {
    this.namespace = namespace
    this.matches = matches
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The number of queued events. */
  get queued(): number {
    return this.#queued
  }

  /** The bytes of the queued objects. */
  get queuedBytes(): number {
    return this.#queuedBytes
  }

  deliver(type: EventType, event: CacheEvent): void {
    this.#deliver(new Batch([{ type, event }]))
  }

  #deliver(batch: Batch): void {
    if (this.#ended) return
    const wasEmpty = this.#queued === 0
    this.#queue.push(batch)
    this.#queued += batch.items.length
    this.#queuedBytes += batch.bytes
    if (this.#queued > watcherQueueLengthMax || this.#queuedBytes > queueBytesMax) this.end()
    else if (wasEmpty) this.wake()
  }

  /** Delivers past events as if they happened now. */
  receive(events: readonly CacheEvent[]): void {
    const here = ({ entry, previous }: CacheEvent) =>
      ((entry ?? previous) as Entry).namespace === this.namespace
    const batch = Batch.of(this.namespace === '' ? events : events.filter(here), this.matches)
    if (batch.items.length > 0) this.#deliver(batch)
  }

  /** This watcher as a subscriber that gets batches at the end of each turn. */
  inBatches(): BatchSubscriber {
    return {
      namespace: this.namespace,
      matches: this.matches,
      deliverBatch: (batch) => this.#deliver(batch),
      end: () => this.end(),
    }
  }

  /**
   * This watcher as a subscriber of a source that repeats events: those up to a revision were
   * already received.
   */
  since(revision: Revision): Subscriber {
    return {
      namespace: this.namespace,
      matches: this.matches,
      deliver: (type, event) => {
        if (event.revision > revision) this.deliver(type, event)
      },
      end: () => this.end(),
    }
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.wake()
  }

  /** Removes and returns all queued events. */
  takeBatch(): Batch | undefined {
    if (this.#queued === 0) return undefined
    const batches = this.#queue
    this.#queue = []
    this.#queued = 0
    this.#queuedBytes = 0
    return Batch.joined(batches)
  }

  take(): readonly WatchItem[] {
    return this.takeBatch()?.items ?? []
  }
}
