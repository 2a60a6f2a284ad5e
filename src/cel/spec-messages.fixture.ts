/**
 * The protobuf messages of CEL's conformance tests as a library of the engine: their types, and
 * values that expressions read and make. kube-apiserver declares no messages; this shows that the
 * engine carries such a library.
 */
import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  getExtension,
  hasExtension,
  isMessage,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf'
import type { ReflectMessage } from '@bufbuild/protobuf/reflect'
import { reflect } from '@bufbuild/protobuf/reflect'
import {
  type Any,
  AnySchema,
  anyUnpack,
  type Duration as ProtoDuration,
  type Timestamp as ProtoTimestamp,
} from '@bufbuild/protobuf/wkt'
import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js'
import {
  boolType,
  bytesType,
  type CelType,
  declare,
  doubleType,
  type FunctionDeclaration,
  intType,
  listOf,
  mapOf,
  objectType,
  overload,
  stringType,
  type TypeProvider,
  uintType,
} from './cel-type.ts'
import { ArrayList, mapOfEntries } from './collections.ts'
import type { Implementation } from './plan-call.ts'
import { formatTimestamp } from './time.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  StructValue,
  Timestamp,
  Uint,
  type Value,
} from './values.ts'

const registry: Registry = getTestRegistry()

/** A message: `fields` has what is set; other fields have their defaults. */
class MessageValue extends StructValue {
  readonly #desc: DescMessage
  constructor(desc: DescMessage, fields: ReadonlyMap<string, Value>) {
    super(desc.typeName, fields)
    this.#desc = desc
  }
  override find(name: string): Value | undefined {
    const known = this.fields.get(name)
    if (known !== undefined) return known
    const field = fieldOf(this.#desc, name)
    return field && defaultOf(field)
  }
}

/** A field or an extension, which has its qualified name. */
function fieldOf(desc: DescMessage, name: string): DescField | undefined {
  const field = desc.fields.find((one) => one.name === name)
  if (field !== undefined) return field
  const extension = registry.getExtension(name)
  // An extension has all that these functions read of a field.
  return extension?.extendee.typeName === desc.typeName
    ? (extension as unknown as DescField)
    : undefined
}

const scalarTypes: Readonly<Partial<Record<ScalarType, CelType>>> = {
  [ScalarType.BOOL]: boolType,
  [ScalarType.BYTES]: bytesType,
  [ScalarType.DOUBLE]: doubleType,
  [ScalarType.FLOAT]: doubleType,
  [ScalarType.STRING]: stringType,
  [ScalarType.UINT32]: uintType,
  [ScalarType.UINT64]: uintType,
  [ScalarType.FIXED32]: uintType,
  [ScalarType.FIXED64]: uintType,
}

const scalarType = (scalar: ScalarType): CelType => scalarTypes[scalar] ?? intType

const elementType = ({
  scalar,
  message,
}: {
  scalar?: ScalarType | undefined
  message?: DescMessage | undefined
}): CelType => {
  if (message !== undefined) return objectType(message.typeName)
  return scalar === undefined ? intType : scalarType(scalar)
}

function fieldType(field: DescField): CelType {
  if (field.fieldKind === 'list') return listOf(elementType(field))
  if (field.fieldKind === 'map') return mapOf(scalarType(field.mapKey), elementType(field))
  return elementType(field)
}

const isWrapper = (typeName: string): boolean =>
  /^google\.protobuf\.\w+[a-z\d]Value$/.test(typeName)
const isJson = (typeName: string): boolean =>
  /^google\.protobuf\.(Value|ListValue|Struct)$/.test(typeName)

function defaultOf(field: DescField): Value {
  switch (field.fieldKind) {
    case 'list':
      return new ArrayList([])
    case 'map':
      return mapOfEntries([])
    case 'enum':
      return BigInt(field.getDefaultValue() ?? field.enum.values[0]!.number)
    case 'scalar':
      return scalarValue(field.scalar, field.getDefaultValue() ?? zeroOf(field.scalar))
  }
  const { typeName } = field.message
  if (typeName === 'google.protobuf.Any') return null
  if (isWrapper(typeName) && !isJson(typeName)) return null
  return fieldsToValue(field.message, new Map())
}

function zeroOf(scalar: ScalarType): unknown {
  const type = scalarType(scalar)
  if (type === boolType) return false
  if (type === stringType) return ''
  return type === bytesType ? new Uint8Array() : 0
}

function scalarValue(scalar: ScalarType, value: unknown): Value {
  const type = scalarType(scalar)
  if (type === intType) return BigInt(value as number)
  if (type === uintType) return new Uint(BigInt(value as number))
  return value as Value
}

/** A message of protobuf as a value. */
export function messageToValue(message: Message): Value {
  if (isMessage(message, AnySchema)) return anyToValue(message)
  const desc = registry.getMessage(message.$typeName)!
  if (desc.typeName === 'google.protobuf.Timestamp') {
    const { seconds, nanos } = message as ProtoTimestamp
    return new Timestamp(Number(seconds), nanos)
  }
  if (desc.typeName === 'google.protobuf.Duration') {
    const { seconds, nanos } = message as ProtoDuration
    return new Duration(seconds * 1_000_000_000n + BigInt(nanos))
  }
  const reflected = reflect(desc, message, false)
  const fields = new Map<string, Value>()
  for (const field of desc.fields)
    if (reflected.isSet(field)) fields.set(field.name, fieldToValue(field, reflected.get(field)))
  for (const extension of extensionsOf(desc)) {
    if (!hasExtension(message, extension)) continue
    const value = getExtension(message, extension)
    fields.set(extension.typeName, extensionToValue(extension, value))
  }
  // Two messages with other unknown fields are not equal.
  for (const { no, data } of message.$unknown ?? [])
    if (!extensionsOf(desc).some(({ number }) => number === no)) fields.set(`#${no}`, data)
  return fieldsToValue(desc, fields)
}

const extensionsOf = (desc: DescMessage): readonly DescExtension[] =>
  [...registry].filter(
    (one): one is DescExtension =>
      one.kind === 'extension' && one.extendee.typeName === desc.typeName,
  )

/** An extension's value is not reflected: messages and lists are plain. */
function extensionToValue(field: DescExtension, value: unknown): Value {
  const one = (item: unknown): Value => {
    if (field.message !== undefined) return messageToValue(item as Message)
    return field.scalar === undefined ? BigInt(item as number) : scalarValue(field.scalar, item)
  }
  if (field.fieldKind === 'list') return new ArrayList((value as readonly unknown[]).map(one))
  return one(value)
}

function anyToValue(any: Any): Value {
  const inner = anyUnpack(any, registry)
  return inner === undefined ? new CelError('conversion error: empty Any') : messageToValue(inner)
}

function fieldToValue(field: DescField, value: unknown): Value {
  const one = (item: unknown): Value => {
    if (field.message !== undefined) return messageToValue((item as ReflectMessage).message)
    if (field.enum === undefined) return scalarValue(field.scalar as ScalarType, item)
    return field.enum.typeName === nullEnum ? null : BigInt(item as number)
  }
  if (field.fieldKind === 'list') return new ArrayList([...(value as Iterable<unknown>)].map(one))
  if (field.fieldKind !== 'map') return one(value)
  const entries = [...(value as Iterable<[unknown, unknown]>)]
  return mapOfEntries(entries.map(([key, item]) => [scalarValue(field.mapKey, key), one(item)]))
}

/**
 * The value that these fields of a message make: messages such as Int64Value become values of CEL.
 */
function fieldsToValue(desc: DescMessage, fields: ReadonlyMap<string, Value>): Value {
  const { typeName } = desc
  switch (typeName) {
    case 'google.protobuf.Value':
      if (fields.has('null_value')) return null
      return fields.size === 0 ? null : (([...fields.values()][0] as Value) ?? null)
    case 'google.protobuf.ListValue':
      return fields.get('values') ?? new ArrayList([])
    case 'google.protobuf.Struct':
      return fields.get('fields') ?? mapOfEntries([])
    case 'google.protobuf.Timestamp':
      return new Timestamp(Number(fields.get('seconds') ?? 0), Number(fields.get('nanos') ?? 0))
    case 'google.protobuf.Duration': {
      const [seconds, nanos] = [fields.get('seconds') ?? 0n, fields.get('nanos') ?? 0n]
      return new Duration((seconds as bigint) * 1_000_000_000n + (nanos as bigint))
    }
    case 'google.protobuf.Any': {
      const url = fields.get('type_url')
      const inner =
        typeof url === 'string' ? registry.getMessage(url.split('/').at(-1)!) : undefined
      if (inner === undefined) return new CelError('conversion error: got invalid Any message type')
      return messageToValue(
        fromBinary(inner, (fields.get('value') ?? new Uint8Array()) as Uint8Array),
      )
    }
  }
  const [first] = desc.fields
  if (isWrapper(typeName)) return fields.get('value') ?? defaultOf(first!)
  return new MessageValue(desc, fields)
}

const nullEnum = 'google.protobuf.NullValue'

const rangeError = new CelError('range error: integer overflow')
const unsupported = new CelError('unsupported field type')

const inRange = (value: bigint, bits: number, isSigned: boolean): boolean =>
  isSigned ? BigInt.asIntN(bits, value) === value : BigInt.asUintN(bits, value) === value

const narrow = new Set([
  ...[ScalarType.INT32, ScalarType.SINT32, ScalarType.SFIXED32],
  ...[ScalarType.UINT32, ScalarType.FIXED32],
])

function assignScalar(scalar: ScalarType, value: Value): Value {
  const type = scalarType(scalar)
  const bits = narrow.has(scalar) ? 32 : 64
  if (type === intType && typeof value === 'bigint')
    return inRange(value, bits, true) ? value : rangeError
  if (type === uintType && value instanceof Uint)
    return inRange(value.value, bits, false) ? value : rangeError
  if (type === doubleType && typeof value === 'number')
    return scalar === ScalarType.FLOAT ? Math.fround(value) : value
  if (type === boolType && typeof value === 'boolean') return value
  if (type === stringType && typeof value === 'string') return value
  return type === bytesType && value instanceof Uint8Array ? value : unsupported
}

/** A value as google.protobuf.Value has it: numbers are doubles, large integers are strings. */
function toJson(value: Value): Value {
  if (value instanceof Uint) return toJson(value.value)
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof ListValue) return new ArrayList([...value].map(toJson))
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return `${Number(value.nanos) / 1e9}s`
  if (value instanceof StructValue) return structToJson(value)
  if (!(value instanceof MapValue)) return value
  const entries: [Value, Value][] = []
  for (const key of value.keys()) {
    if (typeof key !== 'string') return new CelError('bad key type')
    entries.push([key, toJson(value.find(key) as Value)])
  }
  return mapOfEntries(entries)
}

/** The messages that have a form of their own in JSON. */
function structToJson(value: StructValue): Value {
  const paths = value.fields.get('paths')
  if (value.typeName === 'google.protobuf.FieldMask')
    return paths instanceof ListValue ? [...paths].join(',') : ''
  const entries = [...value.fields].map(([key, item]) => [key, toJson(item)] as [Value, Value])
  return mapOfEntries(entries)
}

/** The value of a singular field or of one element; undefined leaves the field unset. */
function assignOne(
  field: { scalar?: ScalarType | undefined; message?: DescMessage | undefined },
  value: Value,
): Value | undefined {
  if (field.message === undefined) return assignScalar(field.scalar ?? ScalarType.INT32, value)
  const { typeName } = field.message
  if (typeName === 'google.protobuf.Any') return value
  if (typeName === 'google.protobuf.Value') return toJson(value)
  if (value === null) return isJson(typeName) ? unsupported : undefined
  if (isJson(typeName)) return toJson(value)
  if (isWrapper(typeName)) return assignOne(field.message.fields[0]!, value)
  return value
}

function assign(field: DescField, value: Value): Value | undefined {
  if (field.fieldKind === 'list') {
    if (!(value instanceof ListValue)) return unsupported
    const elements = [...value].map((element) => assignOne(field, element))
    return elements.find((one) => one instanceof CelError) ?? listOrUnset(elements)
  }
  if (field.fieldKind !== 'map') return assignOne(field, value)
  if (!(value instanceof MapValue)) return unsupported
  const entries: [Value, Value][] = []
  for (const key of value.keys()) {
    const [name, item] = [
      assignScalar(field.mapKey, key),
      assignOne(field, value.find(key) as Value),
    ]
    for (const one of [name, item]) if (one instanceof CelError) return one
    entries.push([name, item ?? null])
  }
  return entries.length === 0 ? undefined : mapOfEntries(entries)
}

const listOrUnset = (elements: readonly (Value | undefined)[]): Value | undefined =>
  elements.length === 0 ? undefined : new ArrayList(elements.map((one) => one ?? null))

/** FeatureSet.FieldPresence.IMPLICIT */
const implicitPresence = 2

/** Whether a field with its default value counts as unset: a field without presence. */
const isImplicit = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' || field.fieldKind === 'enum') &&
  field.presence === implicitPresence

export function makeMessage(typeName: string, values: ReadonlyMap<string, Value>): Value {
  const desc = registry.getMessage(typeName)
  if (desc === undefined) return new CelError(`unknown type: ${typeName}`)
  const fields = new Map<string, Value>()
  for (const [name, value] of values) {
    const field = fieldOf(desc, name)
    if (field === undefined) return new CelError(`no such field '${name}'`)
    const assigned = assign(field, value)
    if (assigned instanceof CelError) return assigned
    if (assigned === undefined) continue
    if (isImplicit(field) && isZero(assigned)) continue
    fields.set(name, assigned)
  }
  return fieldsToValue(desc, fields)
}

const isZero = (value: Value): boolean =>
  value instanceof Uint
    ? value.value === 0n
    : value instanceof Uint8Array
      ? value.length === 0
      : !value

/** The value of a constant such as `pkg.Message.Kind.NAME`. */
function enumValue(name: string): bigint | undefined {
  const split = name.lastIndexOf('.')
  const found: DescEnum | undefined = registry.getEnum(name.slice(0, Math.max(split, 0)))
  const value = found?.values.find((one) => one.name === name.slice(split + 1))
  return value && BigInt(value.number)
}

/** `pkg.Kind(1)` and `pkg.Kind('NAME')` as the number of a constant. */
export const enumFunctions: readonly FunctionDeclaration[] = [...registry]
  .filter((one) => one.kind === 'enum')
  .map(({ typeName }) =>
    declare(
      typeName,
      overload(`${typeName} of int`, [intType], intType),
      overload(`${typeName} of string`, [stringType], intType),
    ),
  )

export const enumImplementations: ReadonlyMap<string, Implementation> = new Map(
  enumFunctions.flatMap(({ name }): [string, Implementation][] => [
    [`${name} of int`, (value) => assignScalar(ScalarType.INT32, value)],
    [
      `${name} of string`,
      (value) => enumValue(`${name}.${String(value)}`) ?? new CelError('invalid enum value'),
    ],
  ]),
)

export const messageTypes: TypeProvider = {
  findType: (name) => (registry.getMessage(name) === undefined ? undefined : objectType(name)),
  findField: (typeName, name) => {
    const desc = registry.getMessage(typeName)
    const field = desc && fieldOf(desc, name)
    return field && fieldType(field)
  },
  findEnum: enumValue,
}

/** cel-go's own tests have the same messages in other packages. */
const toTestPackage = (name: string): string =>
  name.replace(/^google\.expr\.(proto[23])\.test\./, 'cel.expr.conformance.$1.')
const fromTestPackage = (name: string): string =>
  name.replace(/^cel\.expr\.conformance\.(proto[23])\./, 'google.expr.$1.test.')

const renamed = (type: CelType): CelType => ({
  ...type,
  name: fromTestPackage(type.name),
  parameters: type.parameters.map(renamed),
})

export const ownTestTypes: TypeProvider = {
  findType: (name) => {
    const type = messageTypes.findType(toTestPackage(name))
    return type && renamed(type)
  },
  findField: (typeName, name) => {
    const type = messageTypes.findField(toTestPackage(typeName), name)
    return type && renamed(type)
  },
  findEnum: (name) => enumValue(toTestPackage(name)),
}

/** The message of an object in a test: JSON with its type. */
export const readMessage = (json: unknown): Value =>
  messageToValue(fromJson(AnySchema, json as JsonValue, { registry }))
