/**
 * Parses the headers of DER values (class, tag and length) with the errors of Go's encoding/asn1.
 * The only contents that it checks are those of object identifiers (`oidProblem`).
 */

export interface Header {
  readonly class: number
  readonly tag: number
  readonly isCompound: boolean
  readonly length: number
  /** Offset of the contents. */
  readonly from: number
}

/** Lengths at or above this value would exceed 31 bits with another byte. */
const lengthShiftMax = 1 << 23
const tagInBase128 = 0x1f
const int32Max = 2 ** 31 - 1
const truncated = 'asn1: syntax error: truncated tag or length'

/**
 * Parses the header at an offset with at least one byte. Returns the error text if it is invalid.
 */
export function headerAt(bytes: Buffer, at: number): Header | string {
  const first = bytes[at] as number
  let tag = first & 0x1f
  let from = at + 1
  if (tag === tagInBase128) {
    const number = base128At(bytes, from)
    if (typeof number === 'string') return number
    if (number.value < tagInBase128) return 'asn1: syntax error: non-minimal tag'
    tag = number.value
    from = number.end
  }
  const short = bytes[from++]
  if (short === undefined) return truncated
  const header = { class: first >> 6, tag, isCompound: (first & 0x20) !== 0 }
  if (short < 0x80) return { ...header, length: short, from }
  const count = short & 0x7f
  if (count === 0) return 'asn1: syntax error: indefinite length found (not DER)'
  let length = 0
  for (const end = from + count; from < end; from++) {
    const byte = bytes[from]
    if (byte === undefined) return truncated
    if (length >= lengthShiftMax) return 'asn1: structure error: length too large'
    length = length * 256 + byte
    if (length === 0) return 'asn1: structure error: superfluous leading zeros in length'
  }
  if (length < 0x80) return 'asn1: structure error: non-minimal length'
  return { ...header, length, from }
}

/**
 * Returns the header of a value if all its contents are in `bytes` and its tag fits in the first
 * byte.
 */
export function headerOfCompleteValue(bytes: Buffer, at: number): Header | undefined {
  if (at >= bytes.length || ((bytes[at] as number) & 0x1f) === tagInBase128) return undefined
  const header = headerAt(bytes, at)
  if (typeof header === 'string' || header.from + header.length > bytes.length) return undefined
  return header
}

function base128At(bytes: Buffer, at: number): { value: number; end: number } | string {
  let value = 0
  for (let i = at; i < bytes.length; i++) {
    if (i - at === 5) return 'asn1: structure error: base 128 integer too large'
    const byte = bytes[i] as number
    if (i === at && byte === 0x80) return 'asn1: syntax error: integer is not minimally encoded'
    value = value * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    if (value > int32Max) return 'asn1: structure error: base 128 integer too large'
    return { value, end: i + 1 }
  }
  return 'asn1: syntax error: truncated base 128 integer'
}

/** Returns Go's error for the contents of an object identifier, or undefined if they are valid. */
export function oidProblem(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return 'asn1: syntax error: zero length OBJECT IDENTIFIER'
  for (let at = 0; at < bytes.length; ) {
    const number = base128At(bytes, at)
    if (typeof number === 'string') return number
    at = number.end
  }
  return undefined
}
