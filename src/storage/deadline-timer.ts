/**
 * Calls back when the nearest deadline has come. It looks at the clock once a second while there is a deadline,
 * because the clock it is given may be moved by hand, and never keeps the process alive.
 */
const lookIntervalMs = 1000

export interface DeadlineEvents {
  now(): number
  /** The nearest deadline has come; none is wanted any more. */
  due(): void
  /** The clock is looked at. */
  look?(): void
}

export class DeadlineTimer {
  #events: DeadlineEvents
  #deadline = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(events: DeadlineEvents) {
    this.#events = events
  }

  /** Makes sure of a call at this moment or soon after; an earlier one already wanted stays. */
  want(deadline: number): void {
    if (deadline >= this.#deadline) return
    this.#deadline = deadline
    this.#arm()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#deadline = Number.POSITIVE_INFINITY
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const wait = Math.min(Math.max(this.#deadline - this.#events.now(), 1), lookIntervalMs)
    this.#timer = setTimeout(() => this.#look(), wait)
    this.#timer.unref()
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
