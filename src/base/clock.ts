/**
 * Time and chance as arguments: the pure middle of the server reads neither by itself.
 */
export interface Clock {
  /** Milliseconds since 1970. May jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some fixed moment; never jumps. A clock without it is taken not to jump. */
  elapsed?(): number
}

/** The time by a clock as far as it can be had without jumps: good for what has passed, not for what time it is. */
export const elapsedMs = (clock: Clock): number => clock.elapsed?.() ?? clock.now()

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }

/** The longest that a timer may wait, in milliseconds: one that should wait longer, some 25 days, does not wait at all. */
export const timerMsMax = 2 ** 31 - 1
