/**
 * A cache with a TTL and a maximum size; the oldest entry is evicted first. Reading is synchronous
 * and never returns an expired value, even if the system clock is adjusted.
 */
import { type Clock, elapsedMs } from '#base/clock.ts'

export class ExpiringCache<V> {
  readonly #entries = new Map<string, { value: V; until: number }>()
  readonly #sizeMax: number
  readonly #clock: Clock

  constructor(sizeMax: number, clock: Clock) {
    this.#sizeMax = sizeMax
    this.#clock = clock
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.until <= elapsedMs(this.#clock)) {
      this.#entries.delete(key)
      return undefined
    }
    return entry.value
  }

  set(key: string, value: V, ttlMs: number): void {
    if (ttlMs <= 0) return
    this.#entries.delete(key)
    if (this.#entries.size >= this.#sizeMax) {
      const [oldest] = this.#entries.keys()
      this.#entries.delete(oldest as string)
    }
    this.#entries.set(key, { value, until: elapsedMs(this.#clock) + ttlMs })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  get size(): number {
    return this.#entries.size
  }
}
