/** A stock of numbers, each given out once: offsets of addresses, ports. Chance arrives as an argument. */
export type Taken = 'ok' | 'taken' | 'outside'

export class NumberPool {
  readonly first: number
  readonly last: number
  readonly #taken = new Set<number>()
  readonly #random: () => number

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
    if (this.#taken.has(number)) return 'taken'
    this.#taken.add(number)
    return 'ok'
  }

  /** Any free one, from a random place on; undefined when all are gone. */
  takeAny(): number | undefined {
    const size = this.last - this.first + 1
    if (this.free <= 0) return undefined
    const start = Math.floor(this.#random() * size)
    for (let i = 0; i < size; i++) {
      const number = this.first + ((start + i) % size)
      if (this.#taken.has(number)) continue
      this.#taken.add(number)
      return number
    }
    return undefined
  }

  giveBack(number: number): void {
    this.#taken.delete(number)
  }
}
