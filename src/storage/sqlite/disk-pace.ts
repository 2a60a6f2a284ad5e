/**
 * Decides whether the server's thread may wait for the disk itself. It may while the disk is fast,
 * and again after a rest. This class only measures.
 */

/** The expected time of a single write, during which everything else on the thread waits. */
const promptMs = 2
/**
 * The time that one write counts for at most. A single slow write, such as the first on a new file,
 * does not make the disk slow.
 */
const countedMsMax = 8
/** The expected time of each further write in the same batch: CPU work rather than waiting. */
const companionMs = 0.2
/**
 * The excess time that makes a disk slow: nine long writes, more than a start needs, or fifty
 * slightly late ones.
 */
const lateMsMax = 48
/**
 * The share of the elapsed time that is subtracted from the excess. On a busy machine, single
 * writes are slow from time to time.
 */
const forgottenShare = 0.01

/** After a slow write this thread does not wait for the disk for this many times its duration. */
const restTimes = 50

export class DiskPace {
  /** Milliseconds since an arbitrary moment. */
  readonly #elapsed: () => number
  /** The excess time of the writes, and when it was last updated. */
  #lateMs = 0
  #countedAt = 0
  #restUntil = 0

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  isRested(): boolean {
    return this.#elapsed() >= this.#restUntil
  }

  /** Records the duration of a batch. Returns true, and starts a rest, if the disk is now slow. */
  isSlowAfter(tookMs: number, writes: number): boolean {
    const aloneMs = tookMs - companionMs * (writes - 1)
    const now = this.#elapsed()
    const forgottenMs = Math.max(0, now - this.#countedAt) * forgottenShare
    const lateMs = Math.min(aloneMs, countedMsMax) - promptMs
    this.#countedAt = Math.max(now, this.#countedAt)
    this.#lateMs = Math.max(0, Math.max(0, this.#lateMs - forgottenMs) + lateMs)
    if (this.#lateMs <= lateMsMax || !this.isRested()) return false
    this.#lateMs = lateMsMax
    this.restFor(aloneMs * restTimes)
    return true
  }

  /**
   * The excess does not decrease during a rest: the first late write after it starts another rest.
   */
  restFor(ms: number): void {
    this.#restUntil = this.#elapsed() + ms
    this.#countedAt = this.#restUntil
  }
}
