/**
 * Decodes JSON text into a type like kube-apiserver. A duplicate is merged into the first value,
 * and too large integers may wrap. Errors have kube-apiserver's messages with the Go names of
 * types. The result is JSON, which `conform` makes canonical.
 */
import type { Json } from '#api/object-meta.ts'
import type { JsonObject } from '#schema/misfit.ts'
import type { Dict, Field, List, Scalar, Struct, Type } from '#schema/type.ts'
import { setKey } from '#schema/user-key.ts'
import { parseJson } from '#codec/json.ts'
import { base64Fault } from './base64-fault.ts'
import { goFieldName, goTypeName } from './go-name.ts'
import { unionFault } from './plain-fault.ts'
import { char, GoReader } from './reader.ts'
import { textFault } from './text-fault.ts'

export type GoRead = { fault: string } | { value: Json }

/** Decodes JSON bytes as `type`. */
export function readGoJson(bytes: Buffer, type: Type): GoRead {
  const reader = new GoReader(bytes)
  const value = decode(reader, type, undefined)
  if (reader.next() !== 0) reader.report('Unmarshal', 'there are bytes left after unmarshal')
  return reader.fault === undefined ? { value: value ?? null } : { fault: reader.fault }
}

/** The decoded value, merged into the existing one. Undefined and null are Go's zero value. */
type Value = Json | undefined

function decode(reader: GoReader, type: Type, before: Value): Value {
  switch (type.is) {
    case 'scalar':
      return decodeScalar(reader, type, before)
    case 'list':
      return decodeList(reader, type, before)
    case 'map':
      return decodeDict(reader, type, before)
    case 'struct':
      return type.union === true
        ? decodeText(reader, type)
        : decodeStruct(reader, type, before as JsonObject | undefined)
    case 'untyped': {
      // The type has its own parser, as times do.
      reader.next()
      reader.unread()
      const text = reader.untyped()
      return reader.fault === undefined ? parseJson(text) : undefined
    }
  }
}

/**
 * Go's library decodes structs of up to ten fields with another loop, which has its own messages.
 */
const fewFieldsMax = 10

function decodeStruct(reader: GoReader, struct: Struct, before: JsonObject | undefined): Value {
  if (struct.byName.size === 0) return decodeEmpty(reader)
  const first = reader.next()
  if (first === char.n) reader.word(first)
  else if (first !== char.open) {
    reader.reportFound('readObjectStart', 'expect { or n, but found ', first)
  }
  if (first !== char.open) return before
  const out = before ?? {}
  if (reader.next() === char.close) return out
  reader.unread()
  if (struct.byName.size > fewFieldsMax) decodeMany(reader, struct, out)
  else decodeFew(reader, struct, out)
  return out
}

function decodeEmpty(reader: GoReader): Value {
  const first = reader.peek()
  if (first !== char.open && first !== char.n) {
    reader.report('skipObjectDecoder', 'expect object or null')
    return undefined
  }
  const text = reader.skipped()
  return reader.fault === undefined ? parseJson(text) : undefined
}

function decodeMany(reader: GoReader, struct: Struct, out: JsonObject): void {
  let after: number
  do {
    const name = reader.string()
    reader.colon('ReadObject')
    decodeField(reader, struct, name, out)
    after = reader.next()
  } while (after === char.comma)
  reader.within(`${goTypeName(struct)}.`)
  if (after !== char.close) reader.reportFound('struct Decode', 'expect }, but found ', after)
}

function decodeFew(reader: GoReader, struct: Struct, out: JsonObject): void {
  let after: number
  do {
    decodeField(reader, struct, shortFieldName(reader), out)
    after = reader.next()
  } while (after === char.comma)
  if (after !== char.close) {
    reader.reportFound('isObjectEnd', 'object ended prematurely, unexpected char ', after)
  }
  reader.within(`${goTypeName(struct)}.`)
}

function shortFieldName(reader: GoReader): string | undefined {
  const first = reader.next()
  if (first !== char.quote) {
    reader.reportFound('readFieldHash', 'expect ", but found ', first)
    return undefined
  }
  const name = reader.restOfString()
  return reader.colon('readFieldHash', 'expect :, but found ') ? name : undefined
}

function decodeField(
  reader: GoReader,
  struct: Struct,
  name: string | undefined,
  out: JsonObject,
): void {
  const field = name === undefined ? undefined : struct.byName.get(name)
  if (name === undefined || field === undefined) {
    const text = reader.skipped()
    if (name !== undefined && reader.fault === undefined) setKey(out, name, parseJson(text))
    return
  }
  out[name] = decodePointed(reader, field, out[name]) ?? null
  for (const holder of holdersOf(struct, name)) reader.within(`${holder}: `)
}

function decodePointed(reader: GoReader, { pointer, type }: Field, before: Value): Value {
  if (pointer && reader.isNull()) return null
  return decode(reader, type, before ?? undefined)
}

/** The Go names of a field and of the inlined structs that contain it, innermost first. */
function holdersOf(struct: Struct, name: string): string[] {
  for (const field of struct.fields) {
    if (field.name === name) return [goFieldName(struct, name)]
  }
  for (const { inline, type } of struct.fields) {
    if (!inline || type.is !== 'struct' || !type.byName.has(name)) continue
    return [...holdersOf(type, name), goTypeName(type).replace(/^.*\./, '')]
  }
  return [goFieldName(struct, name)]
}

function decodeList(reader: GoReader, list: List, before: Value): Value {
  const out = decodeItems(reader, list, Array.isArray(before) ? before : [])
  reader.within(`${goTypeName(list)}: `)
  return out
}

/** Items are merged into existing items; a shorter list keeps the remaining items. */
function decodeItems(reader: GoReader, { items }: List, before: readonly Json[]): Value {
  const first = reader.next()
  if (first === char.n) reader.word(first)
  else if (first !== char.openList) {
    reader.reportFound('decode slice', 'expect [ or n, but found ', first)
    return before as Json[]
  }
  if (first === char.n) return null
  if (reader.next() === char.closeList) return []
  reader.unread()
  const out: Json[] = []
  let after: number
  do {
    out.push(decode(reader, items, before[out.length] ?? undefined) ?? null)
    after = reader.next()
  } while (after === char.comma)
  if (after !== char.closeList) {
    reader.reportFound('decode slice', 'expect ], but found ', after)
  }
  return out
}

/** Existing keys stay; the value of a key in the text is always a new one. */
function decodeDict(reader: GoReader, { values }: Dict, before: Value): Value {
  const first = reader.next()
  if (first === char.n) {
    reader.word(first)
    return null
  }
  if (first !== char.open) {
    reader.reportFound('ReadMapCB', 'expect { or n, but found ', first)
    return before
  }
  const out = (before ?? {}) as JsonObject
  if (reader.next() === char.close) return out
  reader.unread()
  let after: number
  do {
    const key = reader.string()
    if (!reader.colon('ReadMapCB')) return out
    setKey(out, key, decode(reader, values, undefined) ?? null)
    after = reader.next()
  } while (after === char.comma)
  if (after !== char.close) reader.reportFound('ReadMapCB', 'expect }, but found ', after)
  return out
}

function decodeScalar(reader: GoReader, type: Scalar, before: Value): Value {
  switch (type.scalar) {
    case 'string':
      return reader.string()
    case 'bool':
      return reader.isNull() ? before : reader.boolean()
    case 'int32':
    case 'int64':
      return reader.isNull() ? before : integer(reader.signed(type.scalar === 'int32' ? 32 : 64))
    case 'uint32':
    case 'uint64': {
      if (reader.isNull()) return before
      return integer(reader.unsigned(reader.next(), type.scalar === 'uint32' ? 32 : 64))
    }
    case 'float64':
      return reader.isNull() ? before : reader.float()
    case 'bytes':
      return decodeBytes(reader)
    default:
      return decodeText(reader, type)
  }
}

/** Integers that a double cannot represent stay bigint. */
const integer = (value: bigint): Json =>
  (Number.isSafeInteger(Number(value)) ? Number(value) : value) as Json

function decodeBytes(reader: GoReader): Value {
  if (reader.isNull()) return null
  const first = reader.peek()
  if (first === char.quote) {
    const text = reader.string()
    const fault = base64Fault(text)
    if (fault !== undefined) reader.report('decode base64', fault)
    return text
  }
  if (first !== char.openList) {
    reader.report('base64Codec', 'invalid input')
    return null
  }
  const out = decodeOctets(reader)
  reader.within('[]uint8: ')
  return out
}

function decodeOctets(reader: GoReader): Value {
  reader.next()
  if (reader.next() === char.closeList) return []
  reader.unread()
  const out: Json[] = []
  let after: number
  do {
    const value = reader.isNull() ? 0n : reader.unsigned(reader.next(), 32)
    if (value > 255n) reader.report('ReadUint8', `overflow: ${value}`)
    out.push(Number(value))
    after = reader.next()
  } while (after === char.comma)
  if (after !== char.closeList) {
    reader.reportFound('decode slice', 'expect ], but found ', after)
  }
  return out
}

/** Decodes types with their own parser, such as times and quantities. */
function decodeText(reader: GoReader, type: Scalar | Struct): Value {
  reader.next()
  reader.unread()
  const isAny = type.is === 'scalar' && type.scalar === 'any'
  const text = isAny ? reader.untyped() : reader.skipped()
  if (reader.fault !== undefined) return undefined
  const fault = type.is === 'struct' ? unionFault(type, text) : textFault(type, text)
  if (fault !== undefined) reader.report('unmarshalerDecoder', fault)
  // A quantity keeps its written digits.
  const isDigits = type.is === 'scalar' && type.scalar === 'quantity' && /^[-0-9]/.test(text)
  return isDigits ? text : parseJson(text)
}

/** The error for a value that is decoded completely and then rejected by its consumer. */
export function refusedWhole(bytes: Buffer, why: (value: string) => string): string {
  const text = bytes.toString('latin1')
  const start = text.search(/[^ \t\r\n]/)
  const reader = new GoReader(bytes)
  reader.head = text.trimEnd().length
  reader.report('unmarshalerDecoder', why(bytes.toString('utf8', start, reader.head)))
  return reader.fault as string
}
