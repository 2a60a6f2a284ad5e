/**
 * A block of a ServiceCIDR, and the order in which its addresses are tried. `10.0.0.0/28` has the
 * addresses 10.0.0.1 to 10.0.0.14. It does not track their use.
 */
import {
  addressOfNumber,
  type Family,
  familyOf,
  numberOfAddress,
  numbersKeptOf,
} from './address-pool.ts'

export class AddressBlock {
  /** The block as written in the ServiceCIDR. */
  readonly text: string
  readonly family: Family
  readonly #base: bigint
  readonly #last: bigint
  /**
   * Addresses below this offset are allocated last, because clients that specify an address use a
   * low one.
   */
  readonly #middle: bigint

  constructor(text: string) {
    const [address, bits] = text.split('/') as [string, string]
    this.text = text
    this.family = familyOf(address)
    const width = this.family === 'IPv4' ? 32 : 128
    const hostBits = width - Number(bits)
    const size = 1n << BigInt(hostBits)
    this.#base = numberOfAddress(address) & ~(size - 1n)
    // The last address of an IPv4 block is its broadcast address.
    this.#last = this.#base + size - (this.family === 'IPv4' ? 2n : 1n)
    this.#middle = this.#base + 1n + BigInt(numbersKeptOf(hostBits))
  }

  /** The first address, which no service gets. */
  get begin(): string {
    return addressOfNumber(this.#base, this.family)
  }

  /** Whether a service can get the address from this block. */
  offers(address: string): boolean {
    if (familyOf(address) !== this.family) return false
    const number = numberOfAddress(address)
    return number > this.#base && number <= this.#last
  }

  /** Yields every address once, from a random one on. */
  *addresses(random: () => number): Generator<string> {
    yield* this.#between(this.#middle, this.#last, random)
    yield* this.#between(this.#base + 1n, this.#middle - 1n, random)
  }

  *#between(first: bigint, last: bigint, random: () => number): Generator<string> {
    const size = last - first + 1n
    if (size <= 0n) return
    const start = (size * BigInt(Math.floor(random() * 2 ** 53))) >> 53n
    for (let i = 0n; i < size; i++) yield addressOfNumber(first + ((start + i) % size), this.family)
  }
}
