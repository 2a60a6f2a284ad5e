/**
 * Delivers one change to its subscribers: they are found by namespace, and each receives ADDED,
 * MODIFIED or DELETED by whether the object matched before and matches now. A subscriber never
 * holds up another. Some are notified at once. Those that can wait for the end of the turn receive
 * all its changes together; most of them share one encoded batch.
 */
import { runInNotifyPhase } from '#base/event-loop-phases.ts'
import { Batch, type EventType, transition } from './batch.ts'
import type { Entry } from './entry.ts'
import type { CacheEvent } from './history.ts'

export interface Subscriber {
  /** Empty: all namespaces. */
  readonly namespace: string
  /** Undefined: everything in the namespace. */
  readonly matches: ((entry: Entry) => boolean) | undefined
  deliver(type: EventType, event: CacheEvent): void
  /** Ends delivery: the picture is no longer kept up to date, or a change cannot be delivered. */
  end(): void
}

/** A subscriber that waits for the end of the turn. */
export interface BatchSubscriber extends Omit<Subscriber, 'deliver'> {
  deliverBatch(batch: Batch): void
}

export class FanOut {
  readonly #prompt = new Audience<Subscriber>()
  readonly #batched = new Audience<BatchSubscriber>()
  /** What happened in this turn and was not delivered to batch subscribers yet. */
  #pending: CacheEvent[] = []
  #ended = false

  /**
   * Whether a subscriber receives every object of all namespaces: all that read the contents of
   * objects do.
   */
  get isFollowed(): boolean {
    return this.#prompt.everywhere.size + this.#batched.everywhere.size > 0
  }

  get size(): number {
    return this.#prompt.size + this.#batched.size
  }

  /** Later subscribers receive the end at once. */
  add(subscriber: Subscriber | BatchSubscriber): void {
    if (this.#ended) return void subscriber.end()
    // A subscriber does not receive what happened before it came.
    this.deliverPending()
    if ('deliverBatch' in subscriber) this.#batched.add(subscriber)
    else this.#prompt.add(subscriber)
  }

  remove(subscriber: Subscriber | BatchSubscriber): void {
    if ('deliverBatch' in subscriber) this.#batched.remove(subscriber)
    else this.#prompt.remove(subscriber)
  }

  /** Every subscriber is notified, also if one fails; the first failure is thrown afterwards. */
  publish(event: CacheEvent): void {
    if (this.#batched.size > 0) {
      this.#pending.push(event)
      if (this.#pending.length === 1) runInNotifyPhase(this.deliverPending)
    }
    const failures: unknown[] = []
    const notify = (subscriber: Subscriber) => {
      try {
        const type = transition(event, subscriber.matches)
        if (type !== undefined) subscriber.deliver(type, event)
      } catch (error) {
        failures.push(error)
      }
    }
    this.#prompt.everywhere.forEach(notify)
    this.#prompt.in(namespaceOf(event))?.forEach(notify)
    if (failures.length > 0) throw failures[0]
  }

  /**
   * Delivers pending changes to batch subscribers: the progress of a watch must not be ahead of
   * its events.
   */
  readonly deliverPending = (): void => {
    const events = this.#pending
    if (events.length === 0) return
    this.#pending = []
    notifyAll(this.#batched.everywhere, events)
    if (!this.#batched.isSpread) return
    const byNamespace = Map.groupBy(events, namespaceOf)
    for (const [namespace, some] of byNamespace) {
      const subscribers = this.#batched.in(namespace)
      if (subscribers !== undefined) notifyAll(subscribers, some)
    }
  }

  /** For good: the picture is no longer kept up to date. */
  endAll(): void {
    this.deliverPending()
    this.#ended = true
    this.endPresent()
  }

  /** The present subscribers; others may come. */
  endPresent(): void {
    this.deliverPending()
    const end = (subscriber: Subscriber | BatchSubscriber) => {
      this.remove(subscriber)
      subscriber.end()
    }
    this.#prompt.forEach(end)
    this.#batched.forEach(end)
  }
}

/** Subscribers, by namespace. */
class Audience<Who extends { readonly namespace: string }> {
  readonly everywhere = new Set<Who>()
  readonly #byNamespace = new Map<string, Set<Who>>()
  size = 0

  get isSpread(): boolean {
    return this.#byNamespace.size > 0
  }

  in(namespace: string): Set<Who> | undefined {
    return namespace === '' ? undefined : this.#byNamespace.get(namespace)
  }

  add(one: Who): void {
    this.size++
    const set = one.namespace === '' ? this.everywhere : this.#byNamespace.get(one.namespace)
    if (set === undefined) this.#byNamespace.set(one.namespace, new Set([one]))
    else set.add(one)
  }

  remove(one: Who): void {
    const set = one.namespace === '' ? this.everywhere : this.#byNamespace.get(one.namespace)
    if (set?.delete(one)) this.size--
    if (set?.size === 0 && one.namespace !== '') this.#byNamespace.delete(one.namespace)
  }

  forEach(action: (one: Who) => void): void {
    this.everywhere.forEach(action)
    for (const set of this.#byNamespace.values()) set.forEach(action)
  }
}

const namespaceOf = ({ entry, previous }: CacheEvent): string =>
  ((entry ?? previous) as Entry).namespace

/** Unfiltered watchers share one encoded batch. A subscriber that fails must begin anew. */
function notifyAll(subscribers: Set<BatchSubscriber>, events: readonly CacheEvent[]): void {
  let everything: Batch | undefined
  subscribers.forEach((subscriber) => {
    try {
      const batch =
        subscriber.matches === undefined
          ? (everything ??= Batch.of(events, undefined))
          : Batch.of(events, subscriber.matches)
      if (batch.items.length > 0) subscriber.deliverBatch(batch)
    } catch {
      subscriber.end()
    }
  })
}
