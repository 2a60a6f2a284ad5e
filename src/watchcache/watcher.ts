/**
 * The bounded queue of one watch: what happened and has not been written to its client yet. When it is full the watch
 * ends and its client lists again; nobody else waits.
 */
import type { Entry } from './entry.ts'
import type { EventType, Subscriber } from './fan-out.ts'
import type { CacheEvent } from './history.ts'

export interface WatchItem {
  readonly type: EventType
  readonly event: CacheEvent
}

/** Most events that wait for one slow client: about a second of a very busy resource. */
export const watcherQueueLengthMax = 10_000

export class Watcher implements Subscriber {
  readonly namespace: string
  readonly matches: ((entry: Entry) => boolean) | undefined
  #queue: WatchItem[] = []
  #ended = false
  /** Called when there is something new to take, or the watch has ended. */
  wake: () => void = () => {}

  constructor(namespace: string, matches: ((entry: Entry) => boolean) | undefined) {
    this.namespace = namespace
    this.matches = matches
  }

  get ended(): boolean {
    return this.#ended
  }

  /** How much waits for the client. */
  get queued(): number {
    return this.#queue.length
  }

  deliver(type: EventType, event: CacheEvent): void {
    if (this.#ended) return
    this.#queue.push({ type, event })
    if (this.#queue.length > watcherQueueLengthMax) this.end()
    else if (this.#queue.length === 1) this.wake()
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.wake()
  }

  /** Everything that waits; the queue is empty afterwards. */
  take(): WatchItem[] {
    const items = this.#queue
    if (items.length > 0) this.#queue = []
    return items
  }
}
