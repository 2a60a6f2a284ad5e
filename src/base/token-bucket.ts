/** A rate limit: a number of tokens per second, up to a burst. The time is an argument. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #lastMs: number

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = burst
    this.#lastMs = nowMs
  }

  /** Takes one token. Returns false if the bucket is empty. */
  take(nowMs: number): boolean {
    const earned = (Math.max(0, nowMs - this.#lastMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + earned)
    this.#lastMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  /** Milliseconds from the last attempt until the next token is available. */
  get nextInMs(): number {
    return Math.ceil((Math.max(0, 1 - this.#tokens) / this.#perSecond) * 1000)
  }
}
