/**
 * Events that are delivered together, in their order. Watches with the same selection share the
 * batch, and its encoded form.
 */
import type { Entry } from './entry.ts'
import type { CacheEvent } from './history.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/**
 * The event type of a change for a watcher with a filter; undefined if the watcher gets no event.
 */
export function transition(
  event: CacheEvent,
  matches: ((entry: Entry) => boolean) | undefined,
): EventType | undefined {
  const before = event.previous !== undefined && (matches === undefined || matches(event.previous))
  const now = event.entry !== undefined && (matches === undefined || matches(event.entry))
  if (now) return before ? 'MODIFIED' : 'ADDED'
  return before ? 'DELETED' : undefined
}

export interface WatchItem {
  readonly type: EventType
  readonly event: CacheEvent
}

export class Batch {
  readonly items: readonly WatchItem[]
  /** The bytes of the events' objects. */
  readonly bytes: number
  /** Encoded frames of all events, by shape. */
  #frames: Map<string, readonly Buffer[]> | undefined

  constructor(items: readonly WatchItem[]) {
    this.items = items
    let bytes = 0
    for (let i = 0; i < items.length; i++) bytes += (items[i] as WatchItem).event.bytes
    this.bytes = bytes
  }

  /** The events for a watcher with a filter. */
  static of(
    events: readonly CacheEvent[],
    matches: ((entry: Entry) => boolean) | undefined,
  ): Batch {
    const items: WatchItem[] = []
    for (const event of events) {
      const type = transition(event, matches)
      if (type !== undefined) items.push({ type, event })
    }
    return new Batch(items)
  }

  static joined(batches: readonly Batch[]): Batch {
    return batches.length === 1 ? (batches[0] as Batch) : new Batch(batches.flatMap(itemsOf))
  }

  framesIn(shape: string): readonly Buffer[] | undefined {
    return this.#frames?.get(shape)
  }

  keepFrames(shape: string, frames: readonly Buffer[]): void {
    this.#frames ??= new Map()
    this.#frames.set(shape, frames)
  }
}

const itemsOf = ({ items }: Batch) => items
