/**
 * Caches the encoded items of recent lists. Equal requests use them until the resource changes:
 * many controllers that start at once, or a page that polls. The cache is limited in bytes; the
 * least recently used list is evicted first.
 */

/**
 * The limit of all cached lists: a few lists of thousands of items, little compared with the
 * objects themselves.
 */
export const memoBytesMax = 16 << 20
/**
 * The overhead of a cached list: more than its actual memory, which limits the number of lists to a
 * few thousand.
 */
const besideItemsBytes = 4096

export class ListMemo {
  readonly #known = new Map<string, { pieces: readonly Buffer[]; bytes: number }>()
  #bytes = 0

  get(name: string): readonly Buffer[] | undefined {
    const found = this.#known.get(name)
    if (found === undefined) return undefined
    this.#known.delete(name)
    this.#known.set(name, found)
    return found.pieces
  }

  /** A list without items is not cached: encoding it is as fast. */
  set(name: string, pieces: readonly Buffer[]): void {
    const itemBytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const bytes = itemBytes + besideItemsBytes
    if (itemBytes === 0 || bytes > memoBytesMax) return
    this.#forget(name)
    this.#known.set(name, { pieces, bytes })
    this.#bytes += bytes
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= memoBytesMax) break
      this.#forget(oldest)
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#known.get(name)?.bytes ?? 0
    this.#known.delete(name)
  }
}
