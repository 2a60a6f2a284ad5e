/**
 * Encodes JSON values as CBOR like kube-apiserver. Strings and keys are byte strings, keys are
 * sorted by their encoded bytes, and floats use the shortest exact form. Example: `{"a":[1,1.5]}`
 * is `a1 41 61 82 01 f9 3e 00`. A known type also determines byte arrays (tag 22) and floats.
 */
import type { Json, Loose } from '#api/object-meta.ts'
import { compareKeys } from '#schema/user-key.ts'
import type { Struct, Type } from '#schema/type.ts'

/** Tag 55799 (self-described CBOR), which precedes every response. */
const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7])

/** Byte fields, which are base64 in JSON. */
const base64Later = 0xd6

/** Encodes a document: the prefix, then the value. */
export function encodeCbor(value: Json | Loose, type?: Type): Buffer {
  const writer = new CborWriter()
  writer.raw(selfDescribed)
  writeValue(writer, value as Json, type)
  return writer.bytes()
}

/** Encodes a watch event: a document around the document of its object. */
export function encodeCborEvent(eventType: string, object: Buffer): Buffer {
  const writer = new CborWriter()
  writer.raw(selfDescribed)
  writer.head(5, 2)
  writer.text('type')
  writer.text(eventType)
  writer.text('object')
  writer.raw(object)
  return writer.bytes()
}

const smallestBytes = 256

class CborWriter {
  #buffer = Buffer.allocUnsafeSlow(smallestBytes)
  #at = 0

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }

  #reserve(bytes: number): void {
    const wanted = this.#at + bytes
    if (wanted <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#buffer.length))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.length
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = value
  }

  /** Writes a major type and its argument, in the fewest bytes. */
  head(major: number, argument: number | bigint): void {
    this.#reserve(9)
    const high = major << 5
    if (argument < 24) {
      this.#buffer[this.#at++] = high | Number(argument)
      return
    }
    const power = argument < 0x100 ? 0 : argument < 0x10000 ? 1 : argument < 0x100000000 ? 2 : 3
    this.#buffer[this.#at++] = high | (24 + power)
    if (power === 3) this.#buffer.writeBigUInt64BE(BigInt(argument), this.#at)
    else this.#buffer.writeUIntBE(Number(argument), this.#at, 1 << power)
    this.#at += 1 << power
  }

  text(text: string): void {
    const length = Buffer.byteLength(text)
    this.head(2, length)
    this.#reserve(length)
    this.#at += this.#buffer.write(text, this.#at)
  }

  float(value: number): void {
    this.#reserve(9)
    const half = halfBits(value)
    if (half !== undefined) {
      this.#buffer[this.#at++] = 0xf9
      this.#at = this.#buffer.writeUInt16BE(half, this.#at)
    } else if (Math.fround(value) === value) {
      this.#buffer[this.#at++] = 0xfa
      this.#at = this.#buffer.writeFloatBE(value, this.#at)
    } else {
      this.#buffer[this.#at++] = 0xfb
      this.#at = this.#buffer.writeDoubleBE(value, this.#at)
    }
  }
}

/** Integers of 64 bits are integers, all other numbers are floats. */
function writeNumber(writer: CborWriter, value: number | bigint): void {
  if (typeof value === 'number' && !(Number.isSafeInteger(value) && !Object.is(value, -0))) {
    writer.float(value)
    return
  }
  if (value >= 0) writer.head(0, value)
  else writer.head(1, typeof value === 'bigint' ? -1n - value : -1 - value)
}

function writeValue(writer: CborWriter, value: Json, type: Type | undefined): void {
  if (value === null || value === undefined) writer.byte(0xf6)
  else if (typeof value === 'boolean') writer.byte(value ? 0xf5 : 0xf4)
  else if (typeof value === 'string') {
    if (isScalar(type, 'bytes')) writeBytes(writer, value)
    else writer.text(value)
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    if (isScalar(type, 'float64')) writer.float(Number(value))
    else writeNumber(writer, value)
  } else if (Array.isArray(value)) writeList(writer, value, type)
  else writeMap(writer, value, type)
}

const isUnion = (type: Type | undefined): type is Struct =>
  type?.is === 'struct' && type.union === true

const isScalar = (type: Type | undefined, name: string): boolean =>
  type?.is === 'scalar' && type.scalar === name

function writeBytes(writer: CborWriter, base64: string): void {
  const bytes = Buffer.from(base64, 'base64')
  writer.byte(base64Later)
  writer.head(2, bytes.length)
  writer.raw(bytes)
}

function writeList(writer: CborWriter, list: readonly Json[], of: Type | undefined): void {
  const type = isUnion(of) ? memberOf(of, 'list') : of
  const items = type?.is === 'list' ? type.items : undefined
  writer.head(4, list.length)
  for (const item of list) writeValue(writer, item, items)
}

function writeMap(
  writer: CborWriter,
  map: { readonly [key: string]: Json },
  of: Type | undefined,
): void {
  const type = isUnion(of) ? memberOf(of, 'struct') : of
  const keys = Object.keys(map).filter((key) => map[key] !== undefined)
  writer.head(5, keys.length)
  for (const key of keys.sort(byEncoding)) {
    writer.text(key)
    writeValue(writer, map[key], typeOfKey(type, key))
  }
}

function typeOfKey(type: Type | undefined, key: string): Type | undefined {
  if (type?.is === 'map') return type.values
  return type?.is === 'struct' ? type.byName.get(key)?.type : undefined
}

/** The member of a union that represents it in JSON. */
const memberOf = ({ fields }: Struct, is: 'list' | 'struct'): Type | undefined =>
  fields.find(({ type }) => type.is === is)?.type

/**
 * Encoded strings are ordered by their length and then by their bytes, because the length comes
 * first.
 */
function byEncoding(a: string, b: string): number {
  const difference = Buffer.byteLength(a) - Buffer.byteLength(b)
  return difference !== 0 ? difference : compareKeys(a, b)
}

/** The number in 16 bits if that is exact, otherwise undefined. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size === 0) return sign
  if (size < 2 ** -14) {
    const fraction = size * 2 ** 24
    return Number.isInteger(fraction) ? sign | fraction : undefined
  }
  if (size > 65504) return undefined
  const exponent = Math.floor(Math.log2(size))
  const fraction = (size / 2 ** exponent - 1) * 1024
  return Number.isInteger(fraction) ? sign | ((exponent + 15) << 10) | fraction : undefined
}
