/**
 * OpenAPI v2 as protobuf, with the messages of the gnostic project. kubectl before 1.24 requests
 * this format. The writer fills its buffer from the end to the front, so all functions here write
 * in reverse order.
 */
import type { Json } from '#api/object-meta.ts'
import { WireWriter, wireBytes, wireFixed64, wireVarint } from '#base/wire.ts'
import { RecordingWriter, replay } from './recording-writer.ts'
import type { JsonObject } from './source.ts'

/** Writes one value, with its length in front if the wire type requires it. */
interface Part {
  readonly wire: number
  write(writer: WireWriter, value: Json): void
}

interface Slot {
  readonly number: number
  readonly part: Part
  readonly repeated: boolean
}

/** A document is some megabytes; the buffer grows by doubling. */
const initialCapacityBytes = 1 << 20
const entriesCapacityBytes = 1 << 14
const headBytes = 16
const parameterCapacityBytes = 256
/** The field number of a path in the Paths message. */
const pathNumber = 2

export function encodeDocumentV2(document: JsonObject): Buffer {
  const writer = new WireWriter(initialCapacityBytes)
  writeFields(writer, documentSlots, undefined, document)
  return writer.bytes()
}

/** The encoded paths or definitions of a document, ready to be copied into it. */
export function encodeEntriesV2(of: 'paths' | 'definitions', entries: JsonObject): Buffer[] {
  const writer = new WireWriter(entriesCapacityBytes)
  const lengths = Object.entries(entries).map(([name, value]) => {
    if (of === 'paths') writeNamed(writer, pathNumber, name, pathItem, value)
    else writeNamed(writer, 1, name, schema, value)
    return writer.length
  })
  const bytes = writer.bytes()
  return lengths.map((length, i) =>
    bytes.subarray(bytes.length - length, bytes.length - (lengths[i - 1] ?? 0)),
  )
}

/**
 * Like encodeEntriesV2 for the paths of one kind, with placeholders that any kind's names replace.
 */
export function recordPathsV2(paths: JsonObject): (names: readonly string[]) => Buffer[] {
  const records = Object.entries(paths).map(([name, value]) => {
    const writer = new RecordingWriter(entriesCapacityBytes)
    writeNamed(writer, pathNumber, name, pathItem, value)
    return writer.record()
  })
  return (names) => {
    const writer = new WireWriter(entriesCapacityBytes)
    return records.map((record) => {
      writer.clear()
      replay(record, writer, names)
      return writer.bytes()
    })
  }
}

/** Assembles a document from encoded paths and definitions. */
export function joinDocumentV2(
  { paths: _paths, definitions: _definitions, security, securityDefinitions, ...head }: JsonObject,
  paths: readonly Buffer[],
  definitions: readonly Buffer[],
): Buffer {
  return Buffer.concat([
    encodeDocumentV2(head),
    ...framed('paths', paths),
    ...framed('definitions', definitions),
    encodeDocumentV2({ security, securityDefinitions }),
  ])
}

function framed(name: string, parts: readonly Buffer[]): Buffer[] {
  const writer = new WireWriter(headBytes)
  writer.varint(parts.reduce((sum, { length }) => sum + length, 0))
  putTag(writer, documentSlots.get(name)?.number ?? 0, wireBytes)
  return [writer.bytes(), ...parts]
}

const text: Part = { wire: wireBytes, write: (writer, value) => writer.string(String(value)) }
const flag: Part = { wire: wireVarint, write: (writer, value) => writer.varint(value ? 1 : 0) }
const whole: Part = { wire: wireVarint, write: (writer, value) => writer.int64(Number(value)) }
const real: Part = { wire: wireFixed64, write: (writer, value) => writer.double(Number(value)) }

function putTag(writer: WireWriter, number: number, wire: number): void {
  writer.varint(number * 8 + wire)
}

/** A nested message. `fields` writes its contents. */
const message = (fields: (writer: WireWriter, value: Json) => void): Part => ({
  wire: wireBytes,
  write(writer, value) {
    const start = writer.length
    fields(writer, value)
    writer.lengthSince(start)
  },
})

/** A message with a single field, for wrapped values. */
const wrapped = (number: number, inner: Part): Part =>
  message((writer, value) => {
    inner.write(writer, value)
    putTag(writer, number, inner.wire)
  })

const isExtension = (name: string) => name.startsWith('x-')
/** Values without a fixed type are YAML, and JSON is valid YAML. */
const any = message((writer, value) => {
  writer.string(`${JSON.stringify(value)}\n`)
  putTag(writer, 2, wireBytes)
})

function writeNamed(
  writer: WireWriter,
  number: number,
  name: string,
  part: Part,
  value: Json,
): void {
  const start = writer.length
  part.write(writer, value)
  putTag(writer, 2, part.wire)
  writer.string(name)
  putTag(writer, 1, wireBytes)
  writer.lengthSince(start)
  putTag(writer, number, wireBytes)
}

/** A map, encoded as a repeated message with name and value. */
const named = (part: () => Part, number = 1): Part =>
  message((writer, value) => {
    for (const [name, one] of Object.entries(value as JsonObject).reverse()) {
      writeNamed(writer, number, name, part(), one)
    }
  })

/**
 * Writes the fields of a message by JSON name, from the highest number to the lowest. Extensions
 * have the highest number.
 */
function writeFields(
  writer: WireWriter,
  slots: ReadonlyMap<string, Slot>,
  extensions: number | undefined,
  value: Json,
): void {
  const object = value as JsonObject
  const names = Object.keys(object)
  // An object has only a few of the possible fields, so sort these instead of checking every slot.
  const found: [slot: Slot, value: Json][] = []
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i]
    const slot = slots.get(name)
    if (slot !== undefined) found.push([slot, object[name]])
    else if (extensions !== undefined && isExtension(name))
      writeNamed(writer, extensions, name, any, object[name])
  }
  if (found.length > 1) found.sort(([a], [b]) => b.number - a.number)
  for (const [slot, one] of found) {
    if (!slot.repeated) writeField(writer, slot, one)
    else for (const item of (one as Json[]).toReversed()) writeField(writer, slot, item)
  }
}

function writeField(writer: WireWriter, { part, number }: Slot, value: Json): void {
  if (part === flag && value === false) return
  part.write(writer, value)
  putTag(writer, number, part.wire)
}

type Rows = readonly (readonly [name: string, number: number, part: Part, repeated?: 'repeated'])[]

const slotsOf = (rows: Rows): Map<string, Slot> =>
  new Map(
    rows.map(([name, number, part, repeated]) => [
      name,
      { number, part, repeated: repeated === 'repeated' },
    ]),
  )

function struct(rows: () => Rows, extensions?: number): Part {
  let slots: Map<string, Slot> | undefined
  return message((writer, value) => {
    slots ??= slotsOf(rows())
    writeFields(writer, slots, extensions, value)
  })
}

const list = (part: Part): Part =>
  message((writer, value) => {
    for (const one of (Array.isArray(value) ? value : [value]).toReversed()) {
      part.write(writer, one)
      putTag(writer, 1, part.wire)
    }
  })

const schema: Part = struct(
  () => [
    ['$ref', 1, text],
    ['format', 2, text],
    ['title', 3, text],
    ['description', 4, text],
    ['default', 5, any],
    ['multipleOf', 6, real],
    ['maximum', 7, real],
    ['exclusiveMaximum', 8, flag],
    ['minimum', 9, real],
    ['exclusiveMinimum', 10, flag],
    ['maxLength', 11, whole],
    ['minLength', 12, whole],
    ['pattern', 13, text],
    ['maxItems', 14, whole],
    ['minItems', 15, whole],
    ['uniqueItems', 16, flag],
    ['maxProperties', 17, whole],
    ['minProperties', 18, whole],
    ['required', 19, text, 'repeated'],
    ['enum', 20, any, 'repeated'],
    ['additionalProperties', 21, schemaOrFlag],
    ['type', 22, list(text)],
    ['items', 23, list(schema)],
    ['allOf', 24, schema, 'repeated'],
    ['properties', 25, named(() => schema)],
    ['externalDocs', 29, externalDocs],
    ['example', 30, any],
  ],
  31,
)

const externalDocs = struct(() => [
  ['description', 1, text],
  ['url', 2, text],
])

const schemaOrFlag: Part = message((writer, value) => {
  if (typeof value === 'boolean') {
    flag.write(writer, value)
    putTag(writer, 2, wireVarint)
    return
  }
  schema.write(writer, value)
  putTag(writer, 1, wireBytes)
})

const bodyParameter = struct(() => [
  ['description', 1, text],
  ['name', 2, text],
  ['in', 3, text],
  ['required', 4, flag],
  ['schema', 5, schema],
])

const queryParameter = struct(() => [
  ['required', 1, flag],
  ['in', 2, text],
  ['description', 3, text],
  ['name', 4, text],
  ['type', 6, text],
  ['format', 7, text],
  ['uniqueItems', 20, flag],
])

const pathParameter = struct(() => [
  ['required', 1, flag],
  ['in', 2, text],
  ['description', 3, text],
  ['name', 4, text],
  ['type', 5, text],
  ['format', 6, text],
  ['uniqueItems', 19, flag],
])

const parameters: Readonly<Record<string, Part>> = {
  body: wrapped(1, bodyParameter),
  query: wrapped(2, wrapped(3, queryParameter)),
  path: wrapped(2, wrapped(4, pathParameter)),
}

const anyParameter: Part = wrapped(1, {
  wire: wireBytes,
  write: (writer, value) => parameters[(value as { in: string }).in].write(writer, value),
})

/** Caches the encoding of frozen parameters, because many operations share them. */
const written = new WeakMap<object, Buffer>()

const parameter: Part = {
  wire: wireBytes,
  write(writer, value) {
    if (!Object.isFrozen(value)) return anyParameter.write(writer, value)
    let bytes = written.get(value as object)
    if (bytes === undefined) {
      const own = new WireWriter(parameterCapacityBytes)
      anyParameter.write(own, value)
      bytes = own.bytes()
      written.set(value as object, bytes)
    }
    writer.raw(bytes)
  },
}

const response = struct(() => [
  ['description', 1, text],
  ['schema', 2, wrapped(1, schema)],
])

const operation = struct(
  () => [
    ['tags', 1, text, 'repeated'],
    ['summary', 2, text],
    ['description', 3, text],
    ['operationId', 5, text],
    ['produces', 6, text, 'repeated'],
    ['consumes', 7, text, 'repeated'],
    ['parameters', 8, parameter, 'repeated'],
    ['responses', 9, named(() => wrapped(1, response))],
    ['schemes', 10, text, 'repeated'],
    ['deprecated', 11, flag],
  ],
  13,
)

const pathItem = struct(() => [
  ['get', 2, operation],
  ['put', 3, operation],
  ['post', 4, operation],
  ['delete', 5, operation],
  ['options', 6, operation],
  ['head', 7, operation],
  ['patch', 8, operation],
  ['parameters', 9, parameter, 'repeated'],
])

const info = struct(() => [
  ['title', 1, text],
  ['version', 2, text],
])

const apiKey = struct(() => [
  ['type', 1, text],
  ['name', 2, text],
  ['in', 3, text],
  ['description', 4, text],
])

const documentSlots = slotsOf([
  ['swagger', 1, text],
  ['info', 2, info],
  ['paths', 8, named(() => pathItem, pathNumber)],
  ['definitions', 9, named(() => schema)],
  ['security', 12, named(() => list(text)), 'repeated'],
  ['securityDefinitions', 13, named(() => wrapped(2, apiKey))],
])
