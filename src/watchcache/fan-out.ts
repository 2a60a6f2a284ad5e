/**
 * Delivers each change to its subscribers, which are found by namespace. A subscriber gets ADDED,
 * MODIFIED or DELETED, depending on whether the object matched before and matches now. Subscribers
 * never wait for each other. Some are notified at once. Others get all changes of a turn together;
 * most of them share one encoded batch.
 */
import { runInNotifyPhase } from '#base/event-loop-phases.ts'
import { Batch, type EventType, transition } from './batch.ts'
import type { Entry } from './entry.ts'
import type { CacheEvent } from './history.ts'

export interface Subscriber {
  /** Empty for all namespaces. */
  readonly namespace: string
  /** Undefined for all objects of the namespace. */
  readonly matches: ((entry: Entry) => boolean) | undefined
  deliver(type: EventType, event: CacheEvent): void
  /**
   * Ends the subscription: the cache no longer follows the feed, or a change cannot be delivered.
   */
  end(): void
}

/** A subscriber that gets the changes of a turn as one batch. */
export interface BatchSubscriber extends Omit<Subscriber, 'deliver'> {
  deliverBatch(batch: Batch): void
}

export class FanOut {
  readonly #prompt = new Audience<Subscriber>()
  readonly #batched = new Audience<BatchSubscriber>()
  /** Changes of this turn that batch subscribers have not received yet. */
  #pending: CacheEvent[] = []
  #ended = false

  /**
   * Whether a subscriber gets the objects of all namespaces. Only such subscribers read the
   * contents of objects.
   */
  get isFollowed(): boolean {
    return this.#prompt.everywhere.size + this.#batched.everywhere.size > 0
  }

  get size(): number {
    return this.#prompt.size + this.#batched.size
  }

  /** After `endAll`, a new subscriber is ended at once. */
  add(subscriber: Subscriber | BatchSubscriber): void {
    if (this.#ended) return void subscriber.end()
    // A new subscriber must not receive earlier changes.
    this.deliverPending()
    if ('deliverBatch' in subscriber) this.#batched.add(subscriber)
    else this.#prompt.add(subscriber)
  }

  remove(subscriber: Subscriber | BatchSubscriber): void {
    if ('deliverBatch' in subscriber) this.#batched.remove(subscriber)
    else this.#prompt.remove(subscriber)
  }

  /** Notifies every subscriber even if one throws; the first error is rethrown at the end. */
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
   * Delivers pending changes to batch subscribers. A watch calls it before it reports progress,
   * which must follow its events.
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

  /** Ends all subscribers permanently: the cache no longer follows the feed. */
  endAll(): void {
    this.deliverPending()
    this.#ended = true
    this.endPresent()
  }

  /** Ends the current subscribers; new ones are accepted. */
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

/** Subscribers by namespace. */
class Audience<Who extends { readonly namespace: string }> {
  readonly everywhere = new Set<Who>()
  /** Undefined until a subscriber wants one namespace. */
  #byNamespace: Map<string, Set<Who>> | undefined
  size = 0

  get isSpread(): boolean {
    return this.#byNamespace !== undefined && this.#byNamespace.size > 0
  }

  in(namespace: string): Set<Who> | undefined {
    return namespace === '' ? undefined : this.#byNamespace?.get(namespace)
  }

  add(one: Who): void {
    this.size++
    const set = this.#setOf(one)
    if (set !== undefined) return void set.add(one)
    this.#byNamespace ??= new Map()
    this.#byNamespace.set(one.namespace, new Set([one]))
  }

  remove(one: Who): void {
    const set = this.#setOf(one)
    if (set?.delete(one)) this.size--
    if (set?.size === 0 && one.namespace !== '') this.#byNamespace?.delete(one.namespace)
  }

  forEach(action: (one: Who) => void): void {
    this.everywhere.forEach(action)
    for (const set of this.#byNamespace?.values() ?? []) set.forEach(action)
  }

  #setOf({ namespace }: Who): Set<Who> | undefined {
    return namespace === '' ? this.everywhere : this.#byNamespace?.get(namespace)
  }
}

const namespaceOf = ({ entry, previous }: CacheEvent): string =>
  ((entry ?? previous) as Entry).namespace

/**
 * Unfiltered watchers share one encoded batch. A subscriber that throws is ended and must start
 * again.
 */
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
