/**
 * Deletes expired keys, and shifts their deadlines on disk when the system clock is adjusted. The
 * writer makes the deletions, so the feed delivers them.
 */
import type { TimerClock } from '#base/clock.ts'
import { DeadlineTimer } from '#storage/deadline-timer.ts'
import { ExpiryClock } from './expiry-clock.ts'
import type { ExpireAnswer } from './protocol.ts'
import type { WriteQueue } from './write-queue.ts'

/** The pause before a failed deletion of expired keys is repeated. */
const retryAfterMs = 1000

type ExpiryRequest =
  | { readonly kind: 'expire' | 'settle'; readonly now: number }
  | { readonly kind: 'shift'; readonly byMs: number }

export class Expirer {
  #clock: ExpiryClock
  #writer: WriteQueue
  #timer: DeadlineTimer
  /**
   * Only one request at a time, because one adjustment of the clock must not shift the deadlines
   * twice.
   */
  #asking = false
  #stopped = false

  constructor(clock: TimerClock, writer: WriteQueue) {
    this.#clock = new ExpiryClock(clock)
    this.#writer = writer
    this.#timer = new DeadlineTimer(clock, {
      now: () => this.#clock.now(),
      due: () => this.#ask({ kind: 'expire', now: Math.floor(this.#clock.now()) }),
      look: () => this.#followClock(),
    })
  }

  /** Continues with the deadlines of an earlier run. */
  start(): void {
    this.#ask({ kind: 'settle', now: Math.floor(this.#clock.now()) })
  }

  /** The deadline of a write made now. */
  deadline(ttlMs: number): number {
    const deadline = Math.ceil(this.#clock.now()) + ttlMs
    this.#timer.want(deadline)
    return deadline
  }

  stop(): void {
    this.#stopped = true
    this.#timer.stop()
  }

  #followClock(): void {
    const byMs = this.#clock.jump()
    if (byMs !== 0) this.#ask({ kind: 'shift', byMs })
  }

  async #ask(request: ExpiryRequest): Promise<void> {
    if (this.#asking) return this.#want(this.#clock.now() + 1)
    this.#asking = true
    const byMs = request.kind === 'shift' ? request.byMs : 0
    this.#clock.moved(byMs)
    try {
      const { nextDeadline } = (await this.#writer.ask(request)) as ExpireAnswer
      if (nextDeadline !== undefined) this.#want(nextDeadline)
    } catch {
      // The store reports the failure of the disk. Expired keys remain due, and the adjustment is
      // detected again.
      this.#clock.moved(-byMs)
      this.#want(this.#clock.now() + retryAfterMs)
    } finally {
      this.#asking = false
    }
  }

  #want(deadline: number): void {
    if (!this.#stopped) this.#timer.want(deadline)
  }
}
