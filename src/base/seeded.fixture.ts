/** Chance that a seed repeats, for tests that try much: the same seed gives the same numbers on every machine. */

/** Whole numbers below a limit (mulberry32). */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Numbers from 0 up to, not including, 1. */
export function seededShares(seed: number): () => number {
  const next = seeded(seed)
  return () => next(2 ** 32) / 2 ** 32
}
