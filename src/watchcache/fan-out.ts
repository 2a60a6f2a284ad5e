/**
 * One change to everybody who may care: subscribers are found by namespace, and each is told ADDED, MODIFIED or DELETED
 * by whether the object matched before and matches now. A subscriber never holds up another.
 */
import type { Entry } from './entry.ts'
import type { CacheEvent } from './history.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface Subscriber {
  /** Empty: all namespaces. */
  readonly namespace: string
  /** Undefined: everything in the namespace. */
  readonly matches: ((entry: Entry) => boolean) | undefined
  deliver(type: EventType, event: CacheEvent): void
  /** The live picture moved on without anything for this subscriber. */
  end(): void
}

/** What a change means to one who sees only some objects; undefined where it means nothing. */
export function transition(
  event: CacheEvent,
  matches: ((entry: Entry) => boolean) | undefined,
): EventType | undefined {
  const before = event.previous !== undefined && (matches === undefined || matches(event.previous))
  const now = event.entry !== undefined && (matches === undefined || matches(event.entry))
  if (now) return before ? 'MODIFIED' : 'ADDED'
  return before ? 'DELETED' : undefined
}

export class FanOut {
  #everywhere = new Set<Subscriber>()
  #byNamespace = new Map<string, Set<Subscriber>>()

  get size(): number {
    let size = this.#everywhere.size
    for (const set of this.#byNamespace.values()) size += set.size
    return size
  }

  add(subscriber: Subscriber): void {
    if (subscriber.namespace === '') this.#everywhere.add(subscriber)
    else {
      const set = this.#byNamespace.get(subscriber.namespace)
      if (set === undefined) this.#byNamespace.set(subscriber.namespace, new Set([subscriber]))
      else set.add(subscriber)
    }
  }

  remove(subscriber: Subscriber): void {
    if (subscriber.namespace === '') this.#everywhere.delete(subscriber)
    else {
      const set = this.#byNamespace.get(subscriber.namespace)
      set?.delete(subscriber)
      if (set?.size === 0) this.#byNamespace.delete(subscriber.namespace)
    }
  }

  publish(event: CacheEvent): void {
    const { namespace } = (event.entry ?? event.previous) as Entry
    publishTo(this.#everywhere, event)
    if (namespace === '') return
    const set = this.#byNamespace.get(namespace)
    if (set !== undefined) publishTo(set, event)
  }

  endAll(): void {
    for (const subscriber of this.#everywhere) subscriber.end()
    for (const set of this.#byNamespace.values()) for (const subscriber of set) subscriber.end()
  }
}

function publishTo(subscribers: Set<Subscriber>, event: CacheEvent): void {
  for (const subscriber of subscribers) {
    const type = transition(event, subscriber.matches)
    if (type !== undefined) subscriber.deliver(type, event)
  }
}
