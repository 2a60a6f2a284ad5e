/**
 * The addresses of services: one block of one family as a pool of offsets. The first and last
 * addresses are not allocated.
 */
import { formatIp, isIpv6, isV4Bytes, parseIp } from '#api/ip-address.ts'
import { assert } from '#base/assert.ts'
import { keptBelow, NumberPool, type Taken } from './number-pool.ts'

export type Family = 'IPv4' | 'IPv6'
export const familyOf = (address: string): Family => (isIpv6(address) ? 'IPv6' : 'IPv4')

/** Maximum number of addresses that are used of an IPv6 block. */
const addressesMax = 1 << 16

/** How many of the lowest addresses of a block are allocated last. */
export const numbersKeptOf = (hostBits: number): number =>
  keptBelow(2 ** hostBits, { least: 16, most: 256, step: 16 })

export class AddressPool {
  readonly block: string
  readonly family: Family
  readonly #base: bigint
  /** How many of the lowest addresses are allocated last. */
  readonly #kept: number
  /** The pool of offsets from the start of the block. */
  readonly numbers: NumberPool

  constructor(block: string, random: () => number) {
    const [address, bits] = block.split('/')
    this.family = familyOf(address)
    const width = this.family === 'IPv4' ? 32 : 128
    const hostBits = width - Number(bits)
    const mask = (1n << BigInt(hostBits)) - 1n
    this.#base = numberOfAddress(address) & ~mask
    this.block = `${addressOfNumber(this.#base, this.family)}/${bits}`
    const last =
      this.family === 'IPv4' ? 2 ** hostBits - 2 : Math.min(2 ** hostBits, addressesMax) - 1
    this.numbers = new NumberPool(1, last, random)
    this.#kept = numbersKeptOf(hostBits)
  }

  take(address: string): Taken {
    if (familyOf(address) !== this.family) return 'outside'
    return this.numbers.take(this.#offset(address))
  }

  hold(address: string): void {
    if (familyOf(address) === this.family) this.numbers.hold(this.#offset(address))
  }

  /** The first address, which is not allocated. */
  get begin(): string {
    return addressOfNumber(this.#base, this.family)
  }

  /** `upperFirst`: the lower addresses are allocated last. */
  takeAny(upperFirst = false): string | undefined {
    const offset = this.numbers.takeAny(upperFirst ? this.#kept : 0)
    return offset === undefined
      ? undefined
      : addressOfNumber(this.#base + BigInt(offset), this.family)
  }

  releaseMemory(address: string): void {
    if (familyOf(address) === this.family) this.numbers.releaseMemory(this.#offset(address))
  }

  /** The offset of an address in the pool; undefined if it is not in the pool. */
  bitOf(address: string): number | undefined {
    if (familyOf(address) !== this.family) return undefined
    return this.numbers.bitOf(this.#offset(address))
  }

  #offset(address: string): number {
    return Number(numberOfAddress(address) - this.#base)
  }
}

export function numberOfAddress(address: string): bigint {
  const bytes = parseIp(address)
  assert(bytes !== undefined, `${address} is no address`)
  const own = isV4Bytes(bytes) ? bytes.slice(-4) : bytes
  return own.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}

export function addressOfNumber(number: bigint, family: Family): string {
  const width = family === 'IPv4' ? 4 : 16
  const bytes = Uint8Array.from({ length: width }, (_, i) =>
    Number((number >> BigInt(8 * (width - 1 - i))) & 255n),
  )
  return width === 4 ? bytes.join('.') : formatIp(bytes)
}
