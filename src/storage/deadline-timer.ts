/**
 * Calls back at the nearest deadline. While there is a deadline it checks the clock once a second,
 * because the system clock may be adjusted. It does not keep the process alive.
 */
import type { Cancel, TimerClock } from '#base/clock.ts'

const lookIntervalMs = 1000

export interface DeadlineEvents {
  now(): number
  /** Called at the nearest deadline; afterwards no deadline is set. */
  due(): void
  /** Called at each check of the clock. */
  look?(): void
}

export class DeadlineTimer {
  #events: DeadlineEvents
  #deadline = Number.POSITIVE_INFINITY
  #after: TimerClock['after']
  #cancel: Cancel = () => {}

  constructor(clock: Pick<TimerClock, 'after'>, events: DeadlineEvents) {
    this.#after = clock.after.bind(clock)
    this.#events = events
  }

  /** Ensures a call at this time or soon after. An earlier deadline stays set. */
  want(deadline: number): void {
    if (deadline >= this.#deadline) return
    this.#deadline = deadline
    this.#arm()
  }

  stop(): void {
    this.#cancel()
    this.#deadline = Number.POSITIVE_INFINITY
  }

  #arm(): void {
    this.#cancel()
    const wait = Math.min(Math.max(this.#deadline - this.#events.now(), 1), lookIntervalMs)
    this.#cancel = this.#after(wait, () => this.#look())
  }

  #look(): void {
    this.#events.look?.()
    if (this.#events.now() < this.#deadline) {
      this.#arm()
      return
    }
    this.#deadline = Number.POSITIVE_INFINITY
    this.#events.due()
  }
}
