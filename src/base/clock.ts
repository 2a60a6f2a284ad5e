/**
 * Time and chance as arguments: the pure middle of the server reads neither by itself.
 */
export interface Clock {
  /** Milliseconds since 1970. May jump when the machine's clock is set. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
