/**
 * Whether the server's thread may wait for the disk itself: as long as that is quick, and again
 * after a rest. It starts nothing and writes nothing.
 */

/** What a write alone may take, while everything else here waits for it. */
const promptMs = 2
/**
 * What one counts for at most: one that takes long, as the first on a new file often does, is no
 * slow disk.
 */
const countedMsMax = 8
/** What each of those that went along may take: they are work, not waiting. */
const companionMs = 0.2
/**
 * So much waiting beyond that makes a disk a slow one: nine long writes, more than a start needs,
 * or fifty that take a little longer.
 */
const lateMsMax = 48
/**
 * How much of it is forgotten with the time that passes: on a machine with much else to do a write
 * now and then takes long.
 */
const forgottenShare = 0.01

/**
 * After a slow one this thread does not wait for the disk again before this many times as long has
 * passed.
 */
const restTimes = 50

export class DiskPace {
  /** Milliseconds since some moment. */
  readonly #elapsed: () => number
  /** What writes took beyond what they may, and when that was last counted. */
  #lateMs = 0
  #countedAt = 0
  #restUntil = 0

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  isRested(): boolean {
    return this.#elapsed() >= this.#restUntil
  }

  /**
   * Takes note of what some writes took together; says whether they make the disk a slow one, and
   * then a rest begins.
   */
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

  /** Nothing is forgotten meanwhile: the first late one after it begins another. */
  restFor(ms: number): void {
    this.#restUntil = this.#elapsed() + ms
    this.#countedAt = this.#restUntil
  }
}
