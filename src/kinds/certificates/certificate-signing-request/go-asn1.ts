/**
 * Parses DER according to a shape, with the error messages of Go's encoding/asn1.
 *   readShape(bytes, { is: 'struct', name: 'Pair',
 *     fields: [['first', integer], ['second', bits]] })
 * A structure may be longer than its shape. A value may not be longer than its container. This
 * module has no knowledge of certificates.
 */
import { type Header, headerAt, oidProblem } from './go-asn1-header.ts'

export type Asn1Type = {
  readonly name: string
  readonly optional?: boolean
  /** The number of its context-specific tag, if it has one. */
  readonly tag?: number
} & (
  | { readonly is: 'any' | 'raw' | 'integer' | 'boolean' | 'oid' | 'bits' | 'bytes' }
  | { readonly is: 'struct'; readonly fields: readonly (readonly [string, Asn1Type])[] }
  | { readonly is: 'list'; readonly of: Asn1Type; readonly set?: boolean }
)

/**
 * A parsed value: its contents, the whole encoding with header, and the members of a structure or
 * list.
 */
export interface Asn1Value {
  readonly contents: Buffer
  readonly whole: Buffer
  readonly fields: Readonly<Record<string, Asn1Value>>
  readonly items: readonly Asn1Value[]
}

/** A parse error with Go's message. */
export class Asn1Error extends Error {}

const syntax = (words: string): Asn1Error => new Asn1Error(`asn1: syntax error: ${words}`)
const structure = (words: string): Asn1Error => new Asn1Error(`asn1: structure error: ${words}`)

const universal: Readonly<Record<string, number>> = {
  boolean: 1,
  integer: 2,
  bits: 3,
  bytes: 4,
  oid: 6,
  struct: 16,
  list: 16,
}
const set = 17
const nothing = Buffer.alloc(0)
const absent: Asn1Value = { contents: nothing, whole: nothing, fields: {}, items: [] }
/** A pointer in Go's format. Go prints the address where it stores a tag number. */
const pointer = '0xc000012090'

const tagOf = (shape: Asn1Type): number =>
  shape.is === 'list' && shape.set ? set : (universal[shape.is] as number)
const isCompound = (shape: Asn1Type): boolean => shape.is === 'struct' || shape.is === 'list'
const takesAny = (shape: Asn1Type): boolean => shape.is === 'any' || shape.is === 'raw'

/** The value at the start of the bytes, and how many bytes it takes. */
export function readShape(bytes: Buffer, shape: Asn1Type): { value: Asn1Value; end: number } {
  return readAt(bytes, 0, shape)
}

function headerOf(bytes: Buffer, at: number): Header {
  const header = headerAt(bytes, at)
  if (typeof header === 'string') throw new Asn1Error(header)
  return header
}

function readAt(bytes: Buffer, at: number, shape: Asn1Type): { value: Asn1Value; end: number } {
  if (at === bytes.length) {
    if (shape.optional) return { value: absent, end: at }
    throw syntax('sequence truncated')
  }
  const header = headerOf(bytes, at)
  if (!matches(header, shape)) {
    if (shape.optional) return { value: absent, end: at }
    throw structure(mismatch(header, shape))
  }
  const end = header.from + header.length
  if (end > bytes.length) throw syntax('data truncated')
  const contents = bytes.subarray(header.from, end)
  const value = { ...absent, contents, whole: bytes.subarray(at, end) }
  return { value: { ...value, ...partsOf(contents, shape, header) }, end }
}

function matches(header: Header, shape: Asn1Type): boolean {
  if (takesAny(shape)) return true
  if (header.isCompound !== isCompound(shape)) return false
  return shape.tag === undefined
    ? header.class === 0 && header.tag === tagOf(shape)
    : header.class === 2 && header.tag === shape.tag
}

function mismatch({ tag, length, from, ...header }: Header, shape: Asn1Type): string {
  const found = `{class:${header.class} tag:${tag} length:${length} isCompound:${header.isCompound}}`
  const isSet = shape.is === 'list' && shape.set === true && shape.name === ''
  const wanted =
    `{optional:${shape.optional === true} explicit:false application:false private:false ` +
    `defaultValue:<nil> tag:${shape.tag === undefined ? '<nil>' : pointer} stringType:0 ` +
    `timeType:0 set:${isSet} omitEmpty:false}`
  return `tags don't match (${shape.tag ?? tagOf(shape)} vs ${found}) ${wanted} ${shape.name} @${from}`
}

function partsOf(contents: Buffer, shape: Asn1Type, header: Header): Partial<Asn1Value> {
  if (shape.is === 'struct') return { fields: fieldsOf(contents, shape.fields) }
  if (shape.is === 'list') return { items: itemsOf(contents, shape.of) }
  const problem =
    shape.is === 'any'
      ? header.isCompound || header.class !== 0
        ? undefined
        : problemsByTag[header.tag]?.(contents)
      : problemsByTag[universal[shape.is] ?? 0]?.(contents)
  if (problem !== undefined) throw new Asn1Error(problem)
  return {}
}

function fieldsOf(
  contents: Buffer,
  shapes: readonly (readonly [string, Asn1Type])[],
): Record<string, Asn1Value> {
  const fields: Record<string, Asn1Value> = {}
  let at = 0
  for (const [name, shape] of shapes) {
    const { value, end } = readAt(contents, at, shape)
    fields[name] = value
    at = end
  }
  return fields
}

/** Parses all headers before the first item. */
function itemsOf(contents: Buffer, shape: Asn1Type): Asn1Value[] {
  const starts: number[] = []
  for (let at = 0; at < contents.length; ) {
    const header = headerOf(contents, at)
    if (!matches(header, shape)) throw structure('sequence tag mismatch')
    if (header.from + header.length > contents.length) throw syntax('truncated sequence')
    starts.push(at)
    at = header.from + header.length
  }
  return starts.map((at) => readAt(contents, at, shape).value)
}

const integerProblem = (bytes: Buffer): string | undefined => {
  const [first = 0, second = 0] = bytes
  if (bytes.length === 0) return 'asn1: structure error: empty integer'
  const padded = (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)
  if (bytes.length > 1 && padded) return 'asn1: structure error: integer not minimally-encoded'
  return bytes.length > 8 ? 'asn1: structure error: integer too large' : undefined
}

const bitsProblem = (bytes: Buffer): string | undefined => {
  if (bytes.length === 0) return 'asn1: syntax error: zero length BIT STRING'
  const unused = bytes[0] as number
  const last = bytes.at(-1) as number
  const wrong = unused > 7 || (bytes.length === 1 && unused > 0) || last & ((1 << unused) - 1)
  return wrong ? 'asn1: syntax error: invalid padding bits in BIT STRING' : undefined
}

const textProblem =
  (pattern: RegExp, name: string) =>
  (bytes: Buffer): string | undefined =>
    pattern.test(bytes.toString('latin1'))
      ? undefined
      : `asn1: syntax error: ${name} contains invalid character`

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes)

const isBmp = (bytes: Buffer): boolean => {
  if (bytes.length % 2 !== 0) return false
  for (let at = 0; at < bytes.length; at += 2) {
    const point = bytes.readUInt16BE(at)
    if (point >= 0xfffe || (point >= 0xfdd0 && point <= 0xfdef)) return false
    if (point >= 0xd800 && point <= 0xdfff) return false
  }
  return true
}

/** Errors of a value's contents, by universal tag. */
const problemsByTag: Readonly<Record<number, (bytes: Buffer) => string | undefined>> = {
  1: (bytes) =>
    bytes.length === 1 && (bytes[0] === 0 || bytes[0] === 0xff)
      ? undefined
      : 'asn1: syntax error: invalid boolean',
  2: integerProblem,
  3: bitsProblem,
  6: oidProblem,
  12: (bytes) => (isUtf8(bytes) ? undefined : 'asn1: invalid UTF-8 string'),
  18: textProblem(/^[0-9 ]*$/, 'NumericString'),
  19: textProblem(/^[A-Za-z0-9 '()+,\-./:=?*&]*$/, 'PrintableString'),
  22: textProblem(/^[\0-\x7f]*$/, 'IA5String'),
  30: (bytes) => (isBmp(bytes) ? undefined : 'invalid BMPString'),
}
