/**
 * Writes that will expire, by deadline. An entry whose key was written again in the meantime stays
 * until its deadline; the caller that takes it compares the revision.
 */
import type { Revision } from '#storage/storage.ts'

export interface Expiring {
  readonly deadline: number
  readonly key: string
  readonly revision: Revision
}

export class ExpiryQueue {
  /** Sorted by deadline. Most writes have the same time to live, so most entries go to the end. */
  #entries: Expiring[] = []

  add(entry: Expiring): void {
    let at = this.#entries.length
    while (at > 0 && this.#entries[at - 1].deadline > entry.deadline) at--
    if (at === this.#entries.length) this.#entries.push(entry)
    else this.#entries.splice(at, 0, entry)
  }

  takeDue(now: number): Expiring[] {
    const kept = this.#entries.findIndex((entry) => entry.deadline > now)
    return this.#entries.splice(0, kept < 0 ? this.#entries.length : kept)
  }

  /** A copy for a store whose clock is ahead by `byMs`. */
  shifted(ms: number): ExpiryQueue {
    const copy = new ExpiryQueue()
    copy.#entries = this.#entries.map((entry) => ({ ...entry, deadline: entry.deadline + ms }))
    return copy
  }

  entries(): readonly Expiring[] {
    return this.#entries
  }

  nextDeadline(): number | undefined {
    return this.#entries[0]?.deadline
  }
}
