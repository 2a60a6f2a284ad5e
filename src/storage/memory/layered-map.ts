/**
 * A map whose fork takes almost no time. Both sides share one layer that never changes, and each
 * writes to a layer of its own.
 *
 *   map          shared {a, b}   own {}
 *   its fork     shared {a, b}   own {b: deleted, c}     has a and c
 */

/** A fork copies the own layer. It is merged once it exceeds this part of the shared one. */
const ownParts = 8

export class LayeredMap<V extends object> {
  #shared: ReadonlyMap<string, V> = new Map()
  /** Undefined marks a key that is deleted from the shared layer. */
  #own = new Map<string, V | undefined>()

  get(key: string): V | undefined {
    const own = this.#own.get(key)
    return own === undefined && !this.#own.has(key) ? this.#shared.get(key) : own
  }

  set(key: string, value: V): void {
    this.#own.set(key, value)
  }

  delete(key: string): void {
    if (this.#shared.has(key)) this.#own.set(key, undefined)
    else this.#own.delete(key)
  }

  fork(): LayeredMap<V> {
    if (this.#own.size * ownParts > this.#shared.size) {
      this.#shared = this.#merged()
      this.#own = new Map()
    }
    const fork = new LayeredMap<V>()
    fork.#shared = this.#shared
    fork.#own = new Map(this.#own)
    return fork
  }

  #merged(): ReadonlyMap<string, V> {
    // Without a shared layer nothing is marked as deleted.
    if (this.#shared.size === 0) return this.#own as ReadonlyMap<string, V>
    const merged = new Map(this.#shared)
    for (const [key, value] of this.#own) {
      if (value === undefined) merged.delete(key)
      else merged.set(key, value)
    }
    return merged
  }
}
