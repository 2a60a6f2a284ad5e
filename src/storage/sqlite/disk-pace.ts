/**
 * Whether the server's thread may wait for the disk itself: as long as that is quick, and again after a rest. It starts
 * nothing and writes nothing.
 */

/** What a write alone may take on average, while everything else here waits for it. */
const slowMs = 2
/** What one counts for at most: one that takes long, as the first on a new file often does, is no slow disk; three are. */
const countedMsMax = 8
/** What each of those that went along may take: they are work, not waiting. */
const companionMs = 0.2
const newestShare = 0.1

/** After a slow one this thread does not wait for the disk again before this many times as long has passed. */
const restTimes = 50

export class DiskPace {
  /** Milliseconds since some moment. */
  readonly #elapsed: () => number
  /** What a write alone took, on average. */
  #averageMs = 0
  #restUntil = 0

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  isRested(): boolean {
    return this.#elapsed() >= this.#restUntil
  }

  /** Takes note of what some writes took together; says whether they make the disk a slow one, and then a rest begins. */
  isSlowAfter(tookMs: number, writes: number): boolean {
    const aloneMs = tookMs - companionMs * (writes - 1)
    this.#averageMs += (Math.min(aloneMs, countedMsMax) - this.#averageMs) * newestShare
    if (this.#averageMs <= slowMs || !this.isRested()) return false
    this.restFor(aloneMs * restTimes)
    this.#averageMs = 0
    return true
  }

  restFor(ms: number): void {
    this.#restUntil = this.#elapsed() + ms
  }
}
