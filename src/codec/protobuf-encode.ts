/**
 * Encodes objects as protobuf messages, byte for byte like Go's generated code. Fields are in the
 * order of their numbers, non-pointer fields are written even if zero, and maps are sorted by key.
 * Encoders are compiled once per type. Messages are written backwards (see wire.ts), so each part
 * writes its value before its tag.
 */
import { parseDuration } from '#api/duration.ts'
import type { Loose } from '#api/object-meta.ts'
import { parseTimestamp } from '#api/timestamp.ts'
import { wireBytes, wireFixed64, wireVarint, type WireWriter } from '#base/wire.ts'
import type { Dict, Field, List, ScalarName, Struct, Type } from '#schema/type.ts'
import { compareKeys } from '#schema/user-key.ts'

/** Writes one value without its tag, with a length if its wire type has one. */
interface Part {
  readonly wire: number
  write(writer: WireWriter, value: unknown): void
  /** The value of an absent field; undefined if nothing is written for it. */
  readonly zero: unknown
}

type WriteField = (writer: WireWriter, object: Loose) => void

const emptyObject: Loose = {}

/** Writes the fields of a message with `fields`, and its length in front of them. */
function delimit(writer: WireWriter, fields: () => void): void {
  const start = writer.length
  fields()
  writer.varint(writer.length - start)
}

const stringTag = (number: number) => number * 8 + wireBytes
const varintTag = (number: number) => number * 8 + wireVarint

function writeInstant(writer: WireWriter, seconds: number, nanos: number): void {
  const start = writer.length
  writer.varint(nanos)
  writer.byte(varintTag(2))
  writer.int64(seconds)
  writer.byte(varintTag(1))
  writer.varint(writer.length - start)
}

function writeTime(writer: WireWriter, value: unknown): void {
  if (typeof value !== 'string') {
    writer.byte(0)
    return
  }
  const ms = Date.parse(value)
  const seconds = Number.isNaN(ms) ? (parseTimestamp(value)?.seconds ?? 0) : Math.floor(ms / 1000)
  writeInstant(writer, seconds, 0)
}

function writeMicroTime(writer: WireWriter, value: unknown): void {
  const instant = typeof value === 'string' ? parseTimestamp(value) : undefined
  if (instant === undefined) writer.byte(0)
  else writeInstant(writer, instant.seconds, instant.nanos)
}

function writeDuration(writer: WireWriter, value: unknown): void {
  const nanos = parseDuration(String(value)) ?? 0n
  delimit(writer, () => {
    writer.int64(nanos)
    writer.byte(varintTag(1))
  })
}

function writeQuantity(writer: WireWriter, value: unknown): void {
  const start = writer.length
  writer.string(String(value))
  writer.byte(stringTag(1))
  writer.varint(writer.length - start)
}

function writeIntOrString(writer: WireWriter, value: unknown): void {
  const text = typeof value === 'string'
  const start = writer.length
  writer.string(text ? value : '')
  writer.byte(stringTag(3))
  writer.int64(text ? 0 : (value as number))
  writer.byte(varintTag(2))
  writer.byte(text ? 1 : 0)
  writer.byte(varintTag(1))
  writer.varint(writer.length - start)
}

/**
 * A raw value is a message whose first field is the JSON text; without a value the message is
 * empty.
 */
function writeAny(writer: WireWriter, value: unknown): void {
  if (value === null || value === undefined) {
    writer.byte(0)
    return
  }
  const start = writer.length
  writer.string(JSON.stringify(value))
  writer.byte(stringTag(1))
  writer.varint(writer.length - start)
}

const writeInteger = (writer: WireWriter, value: unknown) => writer.int64(value as number | bigint)
const integer: Part = { wire: wireVarint, write: writeInteger, zero: 0 }

const scalarParts: Readonly<Record<ScalarName, Part>> = {
  string: { wire: wireBytes, write: (writer, value) => writer.string(value as string), zero: '' },
  bool: {
    wire: wireVarint,
    write: (writer, value) => writer.byte(value === true ? 1 : 0),
    zero: false,
  },
  int32: integer,
  int64: integer,
  uint32: integer,
  uint64: integer,
  float64: { wire: wireFixed64, write: (writer, value) => writer.double(value as number), zero: 0 },
  bytes: {
    wire: wireBytes,
    write: (writer, value) => writer.delimited(Buffer.from(value as string, 'base64')),
    zero: undefined,
  },
  time: { wire: wireBytes, write: writeTime, zero: null },
  microTime: { wire: wireBytes, write: writeMicroTime, zero: null },
  duration: { wire: wireBytes, write: writeDuration, zero: '0s' },
  quantity: { wire: wireBytes, write: writeQuantity, zero: '0' },
  intOrString: { wire: wireBytes, write: writeIntOrString, zero: 0 },
  any: { wire: wireBytes, write: writeAny, zero: null },
}

const structWriters = new WeakMap<Struct, WriteField>()

/** Writes all fields of a struct, without a length. */
function structWriter(struct: Struct): WriteField {
  let write = structWriters.get(struct)
  if (write === undefined) {
    let fields: WriteField[] | undefined
    write = (writer, object) => {
      fields ??= fieldWriters(struct)
      for (let i = 0; i < fields.length; i++) fields[i](writer, object)
    }
    structWriters.set(struct, write)
  }
  return write
}

/** Writers of all fields, the highest number first. */
const fieldWriters = (struct: Struct): WriteField[] =>
  struct.fields
    .filter((field) => field.number > 0)
    .sort((a, b) => b.number - a.number)
    .map(fieldWriter)

function fieldWriter(field: Field): WriteField {
  const { name, type, number } = field
  if (field.inline) {
    const inner = messagePart(structWriter(type as Struct))
    const tag = stringTag(number)
    return (writer, object) => {
      inner.write(writer, object)
      writer.varint(tag)
    }
  }
  if (type.is === 'list' && type.wrapped !== true) return listWriter(name, type, number)
  if (type.is === 'map') return mapWriter(name, type, number)
  const part = partOf(type)
  const tag = number * 8 + part.wire
  const absent = field.pointer ? undefined : part.zero
  return (writer, object) => {
    const value = object[name] ?? absent
    if (value === undefined) return
    part.write(writer, value)
    writer.varint(tag)
  }
}

const messagePart = (fields: WriteField): Part => ({
  wire: wireBytes,
  write: (writer, value) => {
    const start = writer.length
    fields(writer, value as Loose)
    writer.varint(writer.length - start)
  },
  zero: emptyObject,
})

function partOf(type: Type): Part {
  switch (type.is) {
    case 'scalar':
      return scalarParts[type.scalar]
    case 'struct':
      return type.union === true ? unionPart(type) : messagePart(structWriter(type))
    case 'list': {
      const items = listWriter('items', type, 1)
      return messagePart((writer, value) => items(writer, { items: value }))
    }
    default:
      throw new Error(`assertion failed: protobuf has no ${type.is} here`)
  }
}

function listWriter(name: string, list: List, number: number): WriteField {
  const part = partOf(list.items)
  const tag = number * 8 + part.wire
  return (writer, object) => {
    const items = object[name]
    if (!Array.isArray(items)) return
    for (let i = items.length - 1; i >= 0; i--) {
      part.write(writer, items[i] ?? part.zero)
      writer.varint(tag)
    }
  }
}

function mapWriter(name: string, dict: Dict, number: number): WriteField {
  const part = partOf(dict.values)
  const valueTag = 2 * 8 + part.wire
  const tag = stringTag(number)
  return (writer, object) => {
    const map = object[name] as Loose | null | undefined
    if (map === null || map === undefined) return
    const keys = Object.keys(map)
    if (keys.length > 1) keys.sort(compareKeys)
    for (let i = keys.length - 1; i >= 0; i--) {
      const start = writer.length
      const value = map[keys[i]] ?? part.zero
      if (value !== undefined) {
        part.write(writer, value)
        writer.byte(valueTag)
      }
      writer.string(keys[i])
      writer.byte(stringTag(1))
      writer.varint(writer.length - start)
      writer.varint(tag)
    }
  }
}

/** JSON has one member of a union; protobuf has a message with a field for each. */
function unionPart(struct: Struct): Part {
  const names = new Map(struct.fields.map((field) => [field.type.is, field.name]))
  const fields = structWriter(struct)
  const membersOf = (value: unknown): Loose => {
    if (Array.isArray(value)) return { [names.get('list') as string]: value }
    const allows = names.get('scalar')
    if (typeof value === 'boolean') return allows === undefined ? {} : { [allows]: value }
    if (value === null) return {}
    const schema = { [names.get('struct') as string]: value }
    return allows === undefined ? schema : { ...schema, [allows]: true }
  }
  return messagePart((writer, value) => fields(writer, membersOf(value)))
}

/**
 * Writes an object's message, without a length and without its kind and apiVersion, which messages
 * do not have.
 */
export function writeMessage(writer: WireWriter, type: Struct, object: Loose): void {
  structWriter(type)(writer, object)
}
