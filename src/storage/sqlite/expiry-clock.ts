/**
 * The time by which writes expire. Deadlines are kept on disk in the time of day, because they must
 * outlast the process, but they pass with elapsed time: when the clock of the machine is set, the
 * deadlines are moved with it.
 */
import { type Clock, elapsedMs } from '#base/clock.ts'

/** Clocks drift apart a little without having been set. */
const driftMsMax = 5000

export class ExpiryClock {
  #clock: Clock
  /** The time of day when elapsed time was nought. */
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

  /** Called when the stored deadlines are shifted; later writes use the new time. */
  moved(byMs: number): void {
    this.#origin += byMs
  }
}
