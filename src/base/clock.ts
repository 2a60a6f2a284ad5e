/**
 * Time and chance as arguments: the pure middle of the server reads neither by itself.
 */
export interface Clock {
  /** Milliseconds since 1970. May jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some fixed moment; never jumps. A clock without it is taken not to jump. */
  elapsed?(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }
