/**
 * The clock that decides when keys expire. Deadlines on disk are wall-clock times, because they
 * must survive a restart. A lease must still last its elapsed time. When the operator adjusts the
 * system clock by an hour, the caller shifts the deadlines by an hour (`jump`, then `moved`).
 */
import { type Clock, elapsedMs } from '#base/clock.ts'

/** The wall clock and the monotonic clock drift apart by less than this without an adjustment. */
const driftMsMax = 5000

export class ExpiryClock {
  #clock: Clock
  /** The wall-clock time at which the elapsed time was 0. */
  #origin: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#origin = clock.now() - elapsedMs(clock)
  }

  now(): number {
    return this.#origin + elapsedMs(this.#clock)
  }

  /**
   * How much the system clock was adjusted since the last check, in milliseconds; 0 for normal
   * drift.
   */
  jump(): number {
    const jump = Math.round(this.#clock.now() - this.now())
    return Math.abs(jump) > driftMsMax ? jump : 0
  }

  /** The caller shifts the stored deadlines by `byMs`; from now on `now()` is shifted as well. */
  moved(byMs: number): void {
    this.#origin += byMs
  }
}
