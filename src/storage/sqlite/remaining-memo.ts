/**
 * Caches how many keys remain after a page, because counting a long range for each page would cost
 * more than reading the page.
 */
import type { KeyRange, Revision } from '#storage/storage.ts'

/** The number of paginated lists that are cached; for others the keys are counted. */
const remembered = 256

export class RemainingMemo {
  /** By the key at which the next page begins, oldest first. */
  #byNextPage = new Map<string, number>()

  /** The number of keys in `rest`, which is `range` without its first `taken` keys. */
  of(range: KeyRange, rest: KeyRange, at: Revision, taken: number, count: () => number): number {
    const known = this.#byNextPage.get(place(range, at))
    const remaining = known === undefined ? count() : known - taken
    if (remaining > 0) this.#remember(place(rest, at), remaining)
    return remaining
  }

  #remember(key: string, remaining: number): void {
    if (this.#byNextPage.size >= remembered) {
      for (const oldest of this.#byNextPage.keys()) {
        this.#byNextPage.delete(oldest)
        break
      }
    }
    this.#byNextPage.set(key, remaining)
  }
}

function place(range: KeyRange, at: Revision): string {
  return `${at} ${range.end} ${range.start}`
}
