/**
 * The bounded queue of one watch: what happened and has not been written to its client yet. When it is full the watch
 * ends and its client lists again; nobody else waits.
 */
import type { Entry } from './entry.ts'
import type { Revision } from '#storage/storage.ts'
import { type EventType, type Subscriber, transition } from './fan-out.ts'
import { type CacheEvent, historyBytesMax } from './history.ts'

export interface WatchItem {
  readonly type: EventType
  readonly event: CacheEvent
}

/** Most events that wait for one slow client: about a second of a very busy resource. */
export const watcherQueueLengthMax = 10_000
/** Most bytes of their objects: all that memory remembers, and as much again while that is read. */
const queueBytesMax = 2 * historyBytesMax

export class Watcher implements Subscriber {
  readonly namespace: string
  readonly matches: ((entry: Entry) => boolean) | undefined
  #queue: WatchItem[] = []
  #queuedBytes = 0
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

  /** How large that is. */
  get queuedBytes(): number {
    return this.#queuedBytes
  }

  deliver(type: EventType, event: CacheEvent): void {
    if (this.#ended) return
    this.#queue.push({ type, event })
    this.#queuedBytes += event.bytes
    if (this.#queue.length > watcherQueueLengthMax || this.#queuedBytes > queueBytesMax) this.end()
    else if (this.#queue.length === 1) this.wake()
  }

  /** Events of the past, as if they happened now. */
  tell(events: readonly CacheEvent[]): void {
    for (const event of events) {
      const { namespace } = (event.entry ?? event.previous) as Entry
      if (this.namespace !== '' && namespace !== this.namespace) continue
      const type = transition(event, this.matches)
      if (type !== undefined) this.deliver(type, event)
    }
  }

  /** The same watcher for one who tells everything: of what is not newer than a revision it has heard already. */
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

  /** Everything that waits; the queue is empty afterwards. */
  take(): WatchItem[] {
    const items = this.#queue
    if (items.length === 0) return items
    this.#queue = []
    this.#queuedBytes = 0
    return items
  }
}
