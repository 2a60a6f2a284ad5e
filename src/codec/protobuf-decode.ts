/**
 * Decodes protobuf messages into JSON values, for types with field numbers. Unknown fields are
 * skipped. Wrong wire types, lengths beyond the end and too deep nesting throw WireError. The
 * result has JSON's names and scalars; `conform` makes it canonical, as for JSON.
 */
import { formatDuration } from '#api/duration.ts'
import type { Json, Loose } from '#api/object-meta.ts'
import { canonicalQuantity, QuantityError } from '#api/quantity.ts'
import { formatMicroTimestamp, formatTimestamp, zeroTimeSeconds } from '#api/timestamp.ts'
import { loadLater } from '#base/load-later.ts'
import { WireError, type WireReader, wireBytes, wireFixed64, wireVarint } from '#base/wire.ts'
import type { Dict, Field, List, ScalarName, Struct, Type } from '#schema/type.ts'
import { setKey } from '#schema/user-key.ts'
import { JsonError, nestingDepthMax, parseJson } from './json.ts'

/** Loaded for the first error message. */
const loadGoNames = loadLater<typeof import('./go-json/go-name.ts')>(
  import.meta.url,
  './go-json/go-name',
)

/**
 * A reader and the approximate depth of the current value in JSON: messages, lists and maps count.
 */
interface Source {
  readonly reader: WireReader
  depth: number
}

/** Reads one value after its tag. `before` is the value of an earlier occurrence of the field. */
interface Part {
  readonly wire: number
  read(source: Source, before: Json | undefined): Json
}

type ReadField = (source: Source, wire: number, object: Loose) => void

/** Reads fields until the end of the current message. */
function eachField(
  source: Source,
  message: string,
  read: (number: number, wire: number) => boolean,
): void {
  const { reader } = source
  while (!reader.done) {
    const tag = reader.tag(message)
    if (!read(tag >>> 3, tag & 7)) reader.skip(tag)
  }
}

/** Reads the next nested message. */
function inside<T>(source: Source, read: () => T): T {
  if (source.depth >= nestingDepthMax) throw new WireError('proto: exceeded max depth')
  const outer = source.reader.enter()
  source.depth++
  const value = read()
  source.depth--
  source.reader.leave(outer)
  return value
}

function expectWire(wire: number, expected: number, name: string): void {
  if (wire !== expected) throw new WireError(`proto: wrong wireType = ${wire} for field ${name}`)
}

/** `name` is the field's JSON name; its Go name is derived only for the error. */
function expectFieldWire(wire: number, expected: number, struct: Struct, name: string): void {
  if (wire !== expected) expectWire(wire, expected, loadGoNames().goFieldName(struct, name))
}

/** Go rejects times after the year 9999, which JSON cannot represent. */
const secondsMax = 253402300799

function readInstant(source: Source): { seconds: number; nanos: number } | undefined {
  return inside(source, () => {
    if (source.reader.done) return undefined
    let seconds: number | bigint = 0
    let nanos = 0
    eachField(source, 'Timestamp', (number, wire) => {
      if (number > 2) return false
      expectWire(wire, wireVarint, number === 1 ? 'Seconds' : 'Nanos')
      if (number === 1) seconds = source.reader.int64()
      else nanos = source.reader.int32()
      return true
    })
    if (seconds < zeroTimeSeconds || seconds > secondsMax || nanos < 0 || nanos > 999_999_999) {
      throw new WireError('proto: time out of range')
    }
    return { seconds: Number(seconds), nanos }
  })
}

function readTime(source: Source): Json {
  const instant = readInstant(source)
  return instant === undefined ? null : formatTimestamp(instant.seconds)
}

function readMicroTime(source: Source): Json {
  const instant = readInstant(source)
  return instant === undefined ? null : formatMicroTimestamp(instant)
}

function readDuration(source: Source): Json {
  let nanos: number | bigint = 0
  inside(source, () =>
    eachField(source, 'Duration', (number, wire) => {
      if (number !== 1) return false
      expectWire(wire, wireVarint, 'Duration')
      nanos = source.reader.int64()
      return true
    }),
  )
  return formatDuration(BigInt(nanos))
}

function readQuantity(source: Source): Json {
  let text = '0'
  inside(source, () =>
    eachField(source, 'Quantity', (number, wire) => {
      if (number !== 1) return false
      expectWire(wire, wireBytes, 'String_')
      text = checkedQuantity(source.reader.string())
      return true
    }),
  )
  return text
}

function checkedQuantity(text: string): string {
  try {
    canonicalQuantity(text)
    return text
  } catch (error) {
    if (error instanceof QuantityError) throw new WireError(error.message)
    throw error
  }
}

function readIntOrString(source: Source): Json {
  let isText = false
  let whole = 0
  let text = ''
  inside(source, () =>
    eachField(source, 'IntOrString', (number, wire) => {
      if (number > 3) return false
      const name = ['', 'Type', 'IntVal', 'StrVal'][number] as string
      expectWire(wire, number === 3 ? wireBytes : wireVarint, name)
      if (number === 1) isText = source.reader.int64() === 1
      else if (number === 2) whole = source.reader.int32()
      else text = source.reader.string()
      return true
    }),
  )
  return isText ? text : whole
}

function readAny(source: Source): Json {
  let raw: string | undefined
  inside(source, () =>
    eachField(source, 'RawExtension', (number, wire) => {
      if (number !== 1) return false
      expectWire(wire, wireBytes, 'Raw')
      raw = source.reader.string()
      return true
    }),
  )
  if (raw === undefined || raw === '') return null
  try {
    return parseJson(raw, nestingDepthMax - source.depth)
  } catch (error) {
    if (error instanceof JsonError) throw new WireError(`raw value is not JSON: ${error.message}`)
    throw error
  }
}

const varint = (read: (reader: WireReader) => unknown): Part => ({
  wire: wireVarint,
  read: ({ reader }) => read(reader) as Json,
})
const message = (read: (source: Source) => Json): Part => ({ wire: wireBytes, read })

const scalarParts: Readonly<Record<ScalarName, Part>> = {
  string: { wire: wireBytes, read: ({ reader }) => reader.string() },
  bool: varint((reader) => reader.bool()),
  int32: varint((reader) => reader.int32()),
  int64: varint((reader) => reader.int64()),
  uint32: varint((reader) => reader.uint32()),
  uint64: varint((reader) => reader.uint64()),
  float64: { wire: wireFixed64, read: ({ reader }) => reader.double() },
  bytes: { wire: wireBytes, read: ({ reader }) => reader.bytes().toString('base64') },
  time: message(readTime),
  microTime: message(readMicroTime),
  duration: message(readDuration),
  quantity: message(readQuantity),
  intOrString: message(readIntOrString),
  any: message(readAny),
}

const structReaders = new WeakMap<Struct, (source: Source, into: Loose) => void>()

/** Reads all fields of a message into an object. */
function structReader(struct: Struct): (source: Source, into: Loose) => void {
  let read = structReaders.get(struct)
  if (read === undefined) {
    let fields: Map<number, ReadField> | undefined
    const message = struct.name.slice(struct.name.lastIndexOf('.') + 1)
    read = (source, into) => {
      fields ??= new Map(
        struct.fields
          .filter(({ number }) => number > 0)
          .map((one) => [one.number, fieldReader(struct, one)]),
      )
      const { reader } = source
      while (!reader.done) {
        const tag = reader.tag(message)
        const field = fields.get(tag >>> 3)
        if (field === undefined) reader.skip(tag)
        else field(source, tag & 7, into)
      }
    }
    structReaders.set(struct, read)
  }
  return read
}

function fieldReader(struct: Struct, field: Field): ReadField {
  const { name, type } = field
  if (field.inline) {
    const read = structReader(type as Struct)
    return (source, wire, object) => {
      expectWire(wire, wireBytes, (type as Struct).name.split('.').pop() as string)
      inside(source, () => read(source, object))
    }
  }
  if (type.is === 'list' && type.wrapped !== true) return listReader(struct, name, type)
  if (type.is === 'map') return mapReader(struct, name, type)
  const part = partOf(type)
  return (source, wire, object) => {
    expectFieldWire(wire, part.wire, struct, name)
    object[name] = part.read(source, object[name])
  }
}

function partOf(type: Type): Part {
  switch (type.is) {
    case 'scalar':
      return scalarParts[type.scalar]
    case 'struct':
      return type.union === true ? unionPart(type) : structPart(type)
    case 'list': {
      const items = listReader(undefined, 'items', type)
      return message((source) =>
        inside(source, () => {
          const into: Loose = { items: [] }
          eachField(source, 'ExtraValue', (number, wire) => {
            if (number === 1) items(source, wire, into)
            return number === 1
          })
          return into['items']
        }),
      )
    }
    default:
      throw new Error(`assertion failed: protobuf has no ${type.is} here`)
  }
}

/** A repeated occurrence of a message is merged into the first, field by field. */
function structPart(struct: Struct): Part {
  const read = structReader(struct)
  return {
    wire: wireBytes,
    read: (source, before) => {
      const into: Loose = (before as Loose | undefined) ?? {}
      inside(source, () => read(source, into))
      return into
    },
  }
}

function listReader(struct: Struct | undefined, name: string, list: List): ReadField {
  const part = partOf(list.items)
  const readItem = (source: Source): Json => {
    source.depth++
    const item = part.read(source, undefined)
    source.depth--
    return item
  }
  return (source, wire, object) => {
    object[name] ??= []
    const items: Json[] = object[name]
    // Repeated numbers may be packed: one length, then all values.
    if (wire === wireBytes && part.wire !== wireBytes) {
      inside(source, () => {
        while (!source.reader.done) items.push(part.read(source, undefined))
      })
      return
    }
    if (struct === undefined) expectWire(wire, part.wire, 'Items')
    else expectFieldWire(wire, part.wire, struct, name)
    items.push(readItem(source))
  }
}

/** If an entry omits its value, text types have the zero value "" and others null. */
const isText = (type: Type) =>
  type.is === 'scalar' && (type.scalar === 'string' || type.scalar === 'bytes')

function mapReader(struct: Struct, name: string, dict: Dict): ReadField {
  const part = partOf(dict.values)
  return (source, wire, object) => {
    expectFieldWire(wire, wireBytes, struct, name)
    object[name] ??= {}
    let key = ''
    let value: Json = isText(dict.values) ? '' : null
    inside(source, () =>
      eachField(source, `${name} entry`, (number, entryWire) => {
        if (number <= 2 && entryWire !== (number === 1 ? wireBytes : part.wire))
          throw new WireError('unexpected EOF')
        if (number === 1) key = source.reader.string()
        else if (number === 2) {
          value = part.read(source, undefined)
        }
        return number <= 2
      }),
    )
    setKey(object[name] as { [key: string]: Json }, key, value)
  }
}

function unionPart(struct: Struct): Part {
  const part = structPart(struct)
  const names = new Map(struct.fields.map((field) => [field.type.is, field.name]))
  return message((source) => {
    const members = part.read(source, undefined) as Loose
    const list = members[names.get('list') ?? '']
    if (Array.isArray(list) && list.length > 0) return list
    const flag = names.get('scalar')
    return (
      members[names.get('struct') ?? ''] ?? (flag === undefined ? null : members[flag] === true)
    )
  })
}

/** Decodes one message. Throws WireError. */
export function readMessage(reader: WireReader, type: Struct): Loose {
  const object: Loose = {}
  structReader(type)({ reader, depth: 1 }, object)
  return object
}
