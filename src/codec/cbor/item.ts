/**
 * Parses CBOR bytes into data items (RFC 8949). Rejects malformed bytes and items that
 * kube-apiserver never accepts: NaN, infinities, bignums. It does not interpret items. Example: `a1
 * 41 61 01` is a map with one pair, the byte string `a` and 1.
 */
import { nestingDepthMax } from '#codec/json.ts'

/** The bytes are invalid. The message is that of Go's CBOR library. */
export class CborError extends Error {
  override name = 'CborError'
}

export type Item =
  | { readonly is: 'positive' | 'negative'; readonly argument: bigint }
  | { readonly is: 'bytes' | 'text'; readonly bytes: Buffer }
  | { readonly is: 'array'; readonly items: readonly Item[] }
  | { readonly is: 'map'; readonly pairs: readonly (readonly [Item, Item])[] }
  | { readonly is: 'tag'; readonly number: bigint; readonly content: Item }
  | { readonly is: 'simple'; readonly value: number }
  | { readonly is: 'float'; readonly value: number }

const majors = ['positive', 'negative', 'bytes', 'text', 'array', 'map', 'tag', 'simple'] as const

/** The names of the major types in Go's library. */
const majorNames = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
] as const

/** The name of an item's major type in messages. */
export const typeNameOf = ({ is }: Item): string =>
  majorNames[is === 'float' ? 7 : majors.indexOf(is)]

/** The limits of Go's library; the limit of the body size is far lower. */
const arrayElementsMax = 2147483647n
const mapPairsMax = 2097152n
const lengthMax = 2n ** 63n - 1n

const indefinite = 31
const breakCode = 0xff

const unexpectedEnd = 'unexpected EOF'

export const unacceptable = (name: string, why: string) =>
  `cbor: data item of cbor type ${name} is not accepted by protocol: ${why}`

interface Head {
  readonly major: number
  /** The five low bits. */
  readonly information: number
  readonly argument: bigint
}

/** Parses the bytes as one data item. Throws CborError. */
export function readItem(bytes: Buffer): Item {
  if (bytes.length === 0) throw new CborError('EOF')
  const reader = new ItemReader(bytes)
  const item = reader.item(0)
  const extra = bytes.length - reader.at
  if (extra === 0) return item
  throw new CborError(`cbor: ${extra} bytes of extraneous data starting at index ${reader.at}`)
}

/** Tags of integers of any size in Go's library. */
const isBignum = (tag: bigint) => tag === 2n || tag === 3n

class ItemReader {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  item(depth: number): Item {
    const head = this.#head()
    const { major, information, argument } = head
    switch (major) {
      case 0:
      case 1:
        return { is: major === 0 ? 'positive' : 'negative', argument }
      case 2:
      case 3:
        return { is: major === 2 ? 'bytes' : 'text', bytes: this.#string(head) }
      case 4:
        return { is: 'array', items: this.#items(head, depth + 1) }
      case 5: {
        const items = this.#items(head, depth + 1)
        const pairs: [Item, Item][] = []
        for (let i = 0; i < items.length; i += 2) pairs.push([items[i], items[i + 1]])
        return { is: 'map', pairs }
      }
      case 6:
        return this.#tag(argument, depth)
      default:
        return information <= 24
          ? { is: 'simple', value: Number(argument) }
          : { is: 'float', value: floatOf(information, argument) }
    }
  }

  #head(): Head {
    const first = this.#byte()
    const major = first >> 5
    const information = first & 0x1f
    if (information < 24) return { major, information, argument: BigInt(information) }
    const name = majorNames[major]
    if (information <= 27) {
      const length = 1 << (information - 24)
      const argument = this.#uint(length)
      if (major === 7 && length === 1 && argument < 32n)
        throw new CborError(`cbor: invalid simple value ${argument} for type ${name}`)
      if (major === 7 && length > 1) requireFinite(floatOf(information, argument))
      return { major, information, argument }
    }
    if (information === indefinite && major === 7)
      throw new CborError('cbor: unexpected "break" code')
    if (information === indefinite && major >= 2 && major <= 5)
      return { major, information, argument: 0n }
    throw new CborError(`cbor: invalid additional information ${information} for type ${name}`)
  }

  #byte(): number {
    if (this.at >= this.#bytes.length) throw new CborError(unexpectedEnd)
    return this.#bytes[this.at++]
  }

  #uint(length: number): bigint {
    if (this.#bytes.length - this.at < length) throw new CborError(unexpectedEnd)
    const { at } = this
    this.at += length
    return length === 8
      ? this.#bytes.readBigUInt64BE(at)
      : BigInt(this.#bytes.readUIntBE(at, length))
  }

  #isBreak(): boolean {
    if (this.at >= this.#bytes.length) throw new CborError(unexpectedEnd)
    if (this.#bytes[this.at] !== breakCode) return false
    this.at++
    return true
  }

  #string(head: Head): Buffer {
    const { major, information } = head
    const name = majorNames[major]
    if (information !== indefinite) return this.#chunk(head)
    const chunks: Buffer[] = []
    while (!this.#isBreak()) {
      const next = this.#bytes[this.at]
      if (next >> 5 !== major) {
        const found = majorNames[next >> 5]
        throw new CborError(`cbor: wrong element type ${found} for indefinite-length ${name}`)
      }
      if ((next & 0x1f) === indefinite)
        throw new CborError(`cbor: indefinite-length ${name} chunk is not definite-length`)
      chunks.push(this.#chunk(this.#head()))
    }
    return Buffer.concat(chunks)
  }

  #chunk({ major, argument }: Head): Buffer {
    if (argument > lengthMax) {
      const name = majorNames[major]
      throw new CborError(`cbor: ${name} length ${argument} is too large, causing integer overflow`)
    }
    if (BigInt(this.#bytes.length - this.at) < argument) throw new CborError(unexpectedEnd)
    const { at } = this
    this.at += Number(argument)
    return this.#bytes.subarray(at, this.at)
  }

  /** The elements of an array; for a map alternating keys and values. */
  #items({ major, information, argument }: Head, depth: number): Item[] {
    requireDepth(depth)
    const items: Item[] = []
    if (information === indefinite) {
      while (!this.#isBreak()) items.push(this.item(depth))
      if (major === 5 && items.length % 2 === 1)
        throw new CborError('cbor: unexpected "break" code')
      return items
    }
    requireCount(major, argument)
    const count = Number(argument) * (major === 5 ? 2 : 1)
    for (let i = 0; i < count; i++) items.push(this.item(depth))
    return items
  }

  /** Each tag inside a tag counts as a level; the first one does not. */
  #tag(number: bigint, depth: number): Item {
    if (this.at >= this.#bytes.length) throw new CborError(unexpectedEnd)
    if (isBignum(number)) throw new CborError(unacceptable('tag', 'bignum'))
    if (this.#bytes[this.at] >> 5 !== 6) return { is: 'tag', number, content: this.item(depth) }
    const { argument } = this.#head()
    requireDepth(depth + 1)
    return { is: 'tag', number, content: this.#tag(argument, depth + 1) }
  }
}

function requireDepth(depth: number): void {
  if (depth > nestingDepthMax)
    throw new CborError(`cbor: exceeded max nested level ${nestingDepthMax}`)
}

function requireCount(major: number, count: bigint): void {
  const name = majorNames[major]
  if (count > lengthMax) {
    throw new CborError(
      `cbor: ${name} length ${count} is too large, it would cause integer overflow`,
    )
  }
  if (major === 4 && count > arrayElementsMax) {
    throw new CborError(`cbor: exceeded max number of elements ${arrayElementsMax} for CBOR array`)
  }
  if (major === 5 && count > mapPairsMax) {
    throw new CborError(`cbor: exceeded max number of key-value pairs ${mapPairsMax} for CBOR map`)
  }
}

function requireFinite(value: number): void {
  if (Number.isFinite(value)) return
  const what = Number.isNaN(value) ? 'floating-point NaN' : 'floating-point infinity'
  throw new CborError(unacceptable('primitives', what))
}

const view = new DataView(new ArrayBuffer(8))

function floatOf(information: number, argument: bigint): number {
  if (information === 27) {
    view.setBigUint64(0, argument)
    return view.getFloat64(0)
  }
  const bits = Number(argument)
  if (information === 25) return halfOf(bits)
  view.setUint32(0, bits)
  return view.getFloat32(0)
}

/** A number of 16 bits: a sign, five bits of exponent, ten of fraction. */
function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (1024 + fraction) * 2 ** (exponent - 25)
}
