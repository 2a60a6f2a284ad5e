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
  /** Nothing is delivered any more: the picture is no longer kept up to date. */
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
  #ended = false

  /** Whether somebody is told of every object, wherever it is: all who look inside objects are. */
  get isFollowed(): boolean {
    return this.#everywhere.size > 0
  }

  get size(): number {
    let size = this.#everywhere.size
    for (const set of this.#byNamespace.values()) size += set.size
    return size
  }

  /** Whoever comes after the end is told so at once. */
  add(subscriber: Subscriber): void {
    if (this.#ended) subscriber.end()
    else if (subscriber.namespace === '') this.#everywhere.add(subscriber)
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

  /** Everybody is told, whatever becomes of one of them; the first failure is thrown afterwards. */
  publish(event: CacheEvent): void {
    const { namespace } = (event.entry ?? event.previous) as Entry
    const failures: unknown[] = []
    publishTo(this.#everywhere, event, failures)
    const set = namespace === '' ? undefined : this.#byNamespace.get(namespace)
    if (set !== undefined) publishTo(set, event, failures)
    if (failures.length > 0) throw failures[0]
  }

  endAll(): void {
    this.#ended = true
    for (const subscriber of this.#everywhere) subscriber.end()
    for (const set of this.#byNamespace.values()) for (const subscriber of set) subscriber.end()
  }
}

function publishTo(subscribers: Set<Subscriber>, event: CacheEvent, failures: unknown[]): void {
  subscribers.forEach((subscriber) => {
    try {
      const type = transition(event, subscriber.matches)
      if (type !== undefined) subscriber.deliver(type, event)
    } catch (error) {
      failures.push(error)
    }
  })
}
