/** Deterministic random numbers from a seed, equal on every machine. */
import type { Random } from './random.ts'

/** Returns a generator of whole numbers below a limit (mulberry32). */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Returns a generator of numbers from 0 (inclusive) to 1 (exclusive). */
export function seededShares(seed: number): () => number {
  const next = seeded(seed)
  return () => next(2 ** 32) / 2 ** 32
}

/** For tests only: with the seed, an attacker can compute every generated token and name. */
export function seededRandom(seed: number): Random {
  const next = seeded(seed)
  const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => next(256)))
  return {
    number: () => next(2 ** 32) / 2 ** 32,
    bytes,
    uuid() {
      const raw = bytes(16)
      raw[6] = 0x40 | (raw[6] & 0x0f)
      raw[8] = 0x80 | (raw[8] & 0x3f)
      return raw.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}
