/**
 * A pool of numbers (address offsets or ports) from which each is allocated once. A number may have
 * several holders, such as a write and its stored service. It is free when all have released it.
 * Randomness is an argument.
 */
export type Taken = 'ok' | 'taken' | 'outside'

export class NumberPool {
  readonly first: number
  readonly last: number
  /** The number of holders per number. */
  readonly #taken = new Map<number, number>()
  readonly #random: () => number
  /** Whether a number is claimed in the store; `bit` is its offset from `first`. */
  claimed: ((bit: number) => boolean) | undefined

  constructor(first: number, last: number, random: () => number) {
    this.first = first
    this.last = last
    this.#random = random
  }

  get free(): number {
    return this.last - this.first + 1 - this.#taken.size
  }

  take(number: number): Taken {
    if (number < this.first || number > this.last) return 'outside'
    if (!this.#isFree(number)) return 'taken'
    this.#taken.set(number, 1)
    return 'ok'
  }

  /** Adds a holder even if the number is not free; ignores numbers outside the pool. */
  hold(number: number): void {
    if (number < this.first || number > this.last) return
    this.#taken.set(number, this.#held(number) + 1)
  }

  /**
   * Allocates a free number, starting at a random one; undefined if none is free. The lowest `kept`
   * numbers are last, because clients that specify a number use low ones.
   */
  takeAny(kept = 0): number | undefined {
    if (this.free <= 0) return undefined
    const middle = this.first + kept
    return this.#takeBetween(middle, this.last) ?? this.#takeBetween(this.first, middle - 1)
  }

  #takeBetween(first: number, last: number): number | undefined {
    const size = last - first + 1
    const start = Math.floor(this.#random() * size)
    for (let i = 0; i < size; i++) {
      const number = first + ((start + i) % size)
      if (!this.#isFree(number)) continue
      this.#taken.set(number, 1)
      return number
    }
    return undefined
  }

  releaseMemory(number: number): void {
    const others = this.#held(number) - 1
    if (others > 0) this.#taken.set(number, others)
    else this.#taken.delete(number)
  }

  /** The offset from `first`; undefined if the number is outside the pool. */
  bitOf(number: number): number | undefined {
    return number < this.first || number > this.last ? undefined : number - this.first
  }

  /** Whether a service or a write known to this server holds the number. */
  isTaken(bit: number): boolean {
    return this.#taken.has(this.first + bit)
  }

  #isFree(number: number): boolean {
    return !this.#taken.has(number) && !this.claimed?.(number - this.first)
  }

  #held(number: number): number {
    return this.#taken.get(number) ?? 0
  }
}

/**
 * How many low numbers of a pool of `size` are allocated last: a share within limits, none in a
 * small pool.
 */
export function keptBelow(
  size: number,
  { least, most, step }: { least: number; most: number; step: number },
): number {
  if (size <= least) return 0
  return Math.min(Math.max(least, Math.floor(size / step)), most)
}
