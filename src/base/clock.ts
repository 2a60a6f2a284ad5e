/**
 * Time as an argument: the pure middle of the server reads no clock. A test passes a clock that it
 * advances.
 */
export interface Clock {
  /** Milliseconds since 1970. May jump when the machine's clock is set. */
  now(): number
  /**
   * Milliseconds since some fixed moment; never jumps. A clock without this function is assumed not
   * to jump.
   */
  elapsed?(): number
}

/** Stops a timer. Calling it again, or after the timer ended, does nothing. */
export type Cancel = () => void

/** A clock with timers. Its timers do not keep the process alive. */
export interface TimerClock extends Clock {
  elapsed(): number
  /** Calls `call` once, after at least `ms`. */
  after(ms: number, call: () => void): Cancel
  /** Calls `call` repeatedly, every `ms`. */
  every(ms: number, call: () => void): Cancel
}

/**
 * Monotonic milliseconds if the clock has them, otherwise its wall time. Use it for durations only.
 */
export const elapsedMs = (clock: Clock): number => clock.elapsed?.() ?? clock.now()

export const systemClock: TimerClock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, timerMsMax)).unref()
    return () => clearTimeout(timer)
  },
  every(ms, call) {
    const timer = setInterval(call, Math.min(ms, timerMsMax)).unref()
    return () => clearInterval(timer)
  },
}

/**
 * The maximum delay of a timer in milliseconds, about 25 days. A timer with a longer delay would
 * fire at once.
 */
export const timerMsMax = 2 ** 31 - 1
