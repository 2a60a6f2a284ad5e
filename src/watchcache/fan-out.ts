/**
 * One change to everybody who may care: subscribers are found by namespace, and each is told ADDED, MODIFIED or DELETED
 * by whether the object matched before and matches now. A subscriber never holds up another. Some are told at once; those
 * who can wait for the end of the turn are told of everything that happened in it, most of them by the same words.
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
  /** Nothing is delivered any more: the picture is no longer kept up to date, or a change cannot be told. */
  end(): void
}

/** One who waits for the end of the turn. */
export interface PatientSubscriber extends Omit<Subscriber, 'deliver'> {
  deliverBatch(batch: Batch): void
}

export class FanOut {
  readonly #prompt = new Audience<Subscriber>()
  readonly #patient = new Audience<PatientSubscriber>()
  /** What happened in this turn and the patient have not heard of. */
  #untold: CacheEvent[] = []
  #ended = false

  /** Whether somebody is told of every object, wherever it is: all who look inside objects are. */
  get isFollowed(): boolean {
    return this.#prompt.everywhere.size + this.#patient.everywhere.size > 0
  }

  get size(): number {
    return this.#prompt.size + this.#patient.size
  }

  /** Whoever comes after the end is told so at once. */
  add(subscriber: Subscriber | PatientSubscriber): void {
    if (this.#ended) return void subscriber.end()
    // What happened before somebody came is not for them.
    this.tellPatient()
    if ('deliverBatch' in subscriber) this.#patient.add(subscriber)
    else this.#prompt.add(subscriber)
  }

  remove(subscriber: Subscriber | PatientSubscriber): void {
    if ('deliverBatch' in subscriber) this.#patient.remove(subscriber)
    else this.#prompt.remove(subscriber)
  }

  /** Everybody is told, whatever becomes of one of them; the first failure is thrown afterwards. */
  publish(event: CacheEvent): void {
    if (this.#patient.size > 0) {
      this.#untold.push(event)
      if (this.#untold.length === 1) runInNotifyPhase(this.tellPatient)
    }
    const failures: unknown[] = []
    const tell = (subscriber: Subscriber) => {
      try {
        const type = transition(event, subscriber.matches)
        if (type !== undefined) subscriber.deliver(type, event)
      } catch (error) {
        failures.push(error)
      }
    }
    this.#prompt.everywhere.forEach(tell)
    this.#prompt.in(namespaceOf(event))?.forEach(tell)
    if (failures.length > 0) throw failures[0]
  }

  /** Tells those who can wait what they have not heard yet: whoever asks how far they have come must not be ahead of them. */
  readonly tellPatient = (): void => {
    const events = this.#untold
    if (events.length === 0) return
    this.#untold = []
    tellBatch(this.#patient.everywhere, events)
    if (!this.#patient.isSpread) return
    const byNamespace = Map.groupBy(events, namespaceOf)
    for (const [namespace, some] of byNamespace) {
      const subscribers = this.#patient.in(namespace)
      if (subscribers !== undefined) tellBatch(subscribers, some)
    }
  }

  /** For good: the picture is no longer kept up to date. */
  endAll(): void {
    this.tellPatient()
    this.#ended = true
    this.endPresent()
  }

  /** Those who are here; others may come. */
  endPresent(): void {
    this.tellPatient()
    const end = (subscriber: Subscriber | PatientSubscriber) => {
      this.remove(subscriber)
      subscriber.end()
    }
    this.#prompt.forEach(end)
    this.#patient.forEach(end)
  }
}

/** Who listens, by namespace. */
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

/** Those who want everything hear it in the same words. One who cannot be told must begin anew. */
function tellBatch(subscribers: Set<PatientSubscriber>, events: readonly CacheEvent[]): void {
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
