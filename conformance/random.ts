/** Random choices that a seed repeats: the same seed makes the same choices on every machine. */
import { seededShares } from '#base/seeded.ts'

export class Random {
  /** From 0 up to 1. */
  readonly next: () => number

  constructor(seed: number) {
    this.next = seededShares(seed)
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
}
