/**
 * Encodes DER, the format of certificates, and finds parts of an encoding. A value is a tag, a
 * length and contents; a structure is a sequence of values.
 *   sequence(integer(5), oid('2.5.4.3')) → 30 08 02 01 05 06 03 55 04 03
 * Meanings are not checked. One function decodes text for requests and certificates, because the
 * authorizer must decode a name exactly as the signer encoded it.
 */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** The bytes of a number, most significant first. */
function bytesOf(value: number): number[] {
  const bytes = [value % 256]
  for (let rest = Math.floor(value / 256); rest > 0; rest = Math.floor(rest / 256))
    bytes.unshift(rest % 256)
  return bytes
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes = bytesOf(length)
  return [0x80 | bytes.length, ...bytes]
}

export function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  const length = contents.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Uint8Array.from([tag, ...lengthBytes(length)]), ...contents])
}

export const sequence = (...parts: Uint8Array[]) => tagged(tags.sequence, ...parts)
export const set = (...parts: Uint8Array[]) => tagged(tags.set, ...parts)
export const boolean = (value: boolean) => tagged(tags.boolean, Uint8Array.of(value ? 0xff : 0))
export const nothing = () => tagged(tags.null)
export const octetString = (...parts: Uint8Array[]) => tagged(tags.octetString, ...parts)
export const utf8String = (text: string) => tagged(tags.utf8String, Buffer.from(text))

/** A non-negative integer, from a number or from its bytes, most significant first. */
export function integer(value: number | Uint8Array): Buffer {
  const bytes = typeof value === 'number' ? Uint8Array.from(bytesOf(value)) : value
  let from = 0
  while (from < bytes.length - 1 && bytes[from] === 0) from++
  const shown = bytes.subarray(from)
  const sign = (shown[0] as number) & 0x80 ? Uint8Array.of(0) : Uint8Array.of()
  return tagged(tags.integer, sign, shown)
}

/** A bit string. The last `unused` bits of the last byte are ignored. */
export const bitString = (bytes: Uint8Array, unused = 0) =>
  tagged(tags.bitString, Uint8Array.of(unused), bytes)

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const groups = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return tagged(tags.oid, Uint8Array.from(bytes))
}

/**
 * Encodes a time in seconds. Certificates require two-digit years until 2049 and four-digit years
 * later.
 */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/[-:T]|\..*$/g, '')}Z`
  const late = new Date(ms).getUTCFullYear() >= 2050
  return tagged(
    late ? tags.generalizedTime : tags.utcTime,
    Buffer.from(late ? digits : digits.slice(2)),
  )
}

export interface DerValue {
  readonly tag: number
  readonly contents: Buffer
  /** The encoding of the value, with its tag and length. */
  readonly whole: Buffer
}

/** Parses consecutive values. Undefined if the bytes are truncated or malformed. */
export function valuesIn(bytes: Buffer): DerValue[] | undefined {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] as number
    let length = bytes[at + 1]
    let from = at + 2
    if (length === undefined) return undefined
    if (length >= 0x80) {
      const count = length & 0x7f
      if (count === 0 || count > 4 || from + count > bytes.length) return undefined
      length = bytes.readUIntBE(from, count)
      from += count
    }
    if (from + length > bytes.length) return undefined
    const end = from + length
    values.push({ tag, contents: bytes.subarray(from, end), whole: bytes.subarray(at, end) })
    at = end
  }
  return values
}

/** Text by its string type: `readText(0x1e, 00 e9 00 61) → { text: 'éa' }`. */
export type DerText = { readonly text: string } | { readonly problem: string }

export function readText(tag: number, bytes: Buffer): DerText {
  switch (tag) {
    case 0x0c: // UTF8String
      return utf8Text(bytes)
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
      if (bytes.some((byte) => byte > 0x7f)) return { problem: 'not ASCII' }
      return { text: bytes.toString('latin1') }
    case 0x14: // T61String
      return { text: bytes.toString('latin1') }
    case 0x1e: // BMPString
      if (bytes.length % 2 !== 0) return { problem: 'odd length' }
      return { text: Buffer.from(bytes).swap16().toString('utf16le') }
    default:
      return { problem: `no text has tag ${tag}` }
  }
}

function utf8Text(bytes: Buffer): DerText {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? { text } : { problem: 'not UTF-8' }
}
