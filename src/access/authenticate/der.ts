/**
 * A minimal DER reader for certificates: definite lengths and one-byte tags only. Every read is
 * limited to the enclosing value, and malformed input throws. Meanings are not checked.
 */
import { readText } from '#base/der.ts'

export interface DerValue {
  readonly tag: number
  /** The contents. */
  readonly content: Buffer
  /** Tag, length and contents. */
  readonly whole: Buffer
}

export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const

export class DerError extends Error {
  override name = 'DerError'
}

/** The consecutive values in `bytes`. Throws if bytes remain. */
export function derValues(bytes: Buffer): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const value = derValueAt(bytes, at)
    values.push(value)
    at += value.whole.length
  }
  return values
}

/** Parses bytes that contain exactly one value. */
export function derValue(bytes: Buffer): DerValue {
  const value = derValueAt(bytes, 0)
  if (value.whole.length !== bytes.length) throw new DerError('trailing data')
  return value
}

function derValueAt(bytes: Buffer, at: number): DerValue {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined) throw new DerError('truncated')
  if ((tag & 0x1f) === 0x1f) throw new DerError('long tag')
  let length = first
  let start = at + 2
  if (first >= 0x80) {
    const size = first & 0x7f
    // No certificate needs a length of four bytes. A length of no bytes means an indefinite length,
    // which DER forbids.
    if (size === 0 || size > 4) throw new DerError('length out of range')
    if (start + size > bytes.length) throw new DerError('truncated')
    length = bytes.readUIntBE(start, size)
    start += size
    if (length < 0x80 || length < 2 ** (8 * (size - 1))) throw new DerError('length not minimal')
  }
  const end = start + length
  if (end > bytes.length) throw new DerError('truncated')
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) }
}

export function expectTag(value: DerValue | undefined, tag: number): DerValue {
  if (value === undefined || value.tag !== tag)
    throw new DerError(`expected tag ${tag}, found ${value?.tag}`)
  return value
}

/** An object identifier such as `2.5.4.3`. */
export function objectIdentifier(value: DerValue | undefined): string {
  const { content } = expectTag(value, derTag.objectIdentifier)
  const parts: number[] = []
  let part = 0
  content.forEach((byte, i) => {
    part = part * 128 + (byte & 0x7f)
    if (part > Number.MAX_SAFE_INTEGER) throw new DerError('object identifier out of range')
    if (byte >= 0x80) {
      if (i === content.length - 1) throw new DerError('truncated object identifier')
      return
    }
    if (parts.length === 0) parts.push(Math.min(Math.floor(part / 40), 2))
    parts.push(parts.length === 1 ? part - (parts[0] as number) * 40 : part)
    part = 0
  })
  return parts.join('.')
}

export function derBoolean(value: DerValue): boolean {
  const { content } = expectTag(value, derTag.boolean)
  if (content.length !== 1) throw new DerError('malformed boolean')
  return content[0] !== 0
}

/** Accepts only small numbers: path lengths and versions. */
export function smallInteger(value: DerValue): number {
  const { content } = expectTag(value, derTag.integer)
  if (content.length === 0 || content.length > 4 || (content[0] as number) >= 0x80)
    throw new DerError('integer out of range')
  return content.readUIntBE(0, content.length)
}

/** Text of a name, by its string type. */
export function derText({ tag, content }: DerValue): string {
  const read = readText(tag, content)
  if ('problem' in read) throw new DerError(read.problem)
  return read.text
}
