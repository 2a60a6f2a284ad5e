/**
 * A gate for watch events. While it is closed, events wait, and several events of one object become
 * one. So the client misses the states in between.
 */

/** One line of a watch. */
export interface Event {
  type: string
  object: { metadata?: { uid?: string; name?: string; namespace?: string } }
}

/** Holds back the events of watches, and combines the events of each object. */
export class WatchGate {
  #isHeld = false
  readonly #waiting = new Map<object, { send: (event: Event) => void; merged: MergedEvents }>()

  hold(): void {
    this.#isHeld = true
  }

  release(): void {
    this.#isHeld = false
    for (const { send, merged } of this.#waiting.values())
      for (const event of merged.take()) send(event)
    this.#waiting.clear()
  }

  /** Passes on an event, at once or when the gate is opened. */
  pass(watch: object, event: Event, send: (event: Event) => void): void {
    if (this.#isHeld) this.#keep(watch, event, send)
    else send(event)
  }

  #keep(watch: object, event: Event, send: (event: Event) => void): void {
    const waiting = this.#waiting.get(watch) ?? { send, merged: new MergedEvents() }
    this.#waiting.set(watch, waiting)
    waiting.merged.add(event)
  }
}

/** Combines events of an object into one event with the same end state. */
class MergedEvents {
  readonly #events = new Map<string, Event>()
  #others = 0

  add(event: Event): void {
    const key = keyOf(event) ?? `other ${this.#others++}`
    const before = this.#events.get(key)
    this.#events.delete(key)
    const merged = before === undefined ? event : mergeEvents(before, event)
    if (merged !== undefined) this.#events.set(key, merged)
  }

  take(): Event[] {
    return [...this.#events.values()]
  }
}

/** Undefined if the two events cancel each other out. */
function mergeEvents(before: Event, after: Event): Event | undefined {
  if (before.type === 'ADDED')
    return after.type === 'DELETED' ? undefined : { ...after, type: 'ADDED' }
  return after.type === 'ADDED' ? { ...after, type: 'MODIFIED' } : after
}

export function keyOf({ type, object }: Event): string | undefined {
  const { namespace = '', name } = object.metadata ?? {}
  return type === 'BOOKMARK' || type === 'ERROR' || !name ? undefined : `${namespace}/${name}`
}
