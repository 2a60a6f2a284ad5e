/**
 * A stock of numbers, each given out once: offsets of addresses, ports. One may be held by
 * several all the same, by a
 * write and by what it wrote, or by two objects that others stored: it is free when all of them
 * have given it back.
 * Chance arrives as an argument.
 */
export type Taken = 'ok' | 'taken' | 'outside'

export class NumberPool {
  readonly first: number
  readonly last: number
  /** How many hold it, by number. */
  readonly #taken = new Map<number, number>()
  readonly #random: () => number
  /** Whether the number is known to be claimed, counted from the first. */
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

  /** Takes it whether or not it is free; numbers outside are ignored. */
  hold(number: number): void {
    if (number < this.first || number > this.last) return
    this.#taken.set(number, this.#held(number) + 1)
  }

  /**
   * Any free one, from a random place on; undefined when all are gone. The lowest `kept` are given
   * out last, since clients that name a number name a low one.
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

  giveBack(number: number): void {
    const others = this.#held(number) - 1
    if (others > 0) this.#taken.set(number, others)
    else this.#taken.delete(number)
  }

  /** Counted from the first; undefined where it is outside. */
  bitOf(number: number): number | undefined {
    return number < this.first || number > this.last ? undefined : number - this.first
  }

  /** Whether this server knows its holder: a service, or a write. */
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
 * How many low numbers are given out last, of `size`: a part of them within limits, none of a
 * small stock.
 */
export function keptBelow(
  size: number,
  { least, most, step }: { least: number; most: number; step: number },
): number {
  if (size <= least) return 0
  return Math.min(Math.max(least, Math.floor(size / step)), most)
}
