/**
 * Decodes CBOR data items into JSON values of a known type, like Go's library decodes into structs.
 * Names match exactly, numbers must fit, and a fault names the field of the outermost struct.
 * Example: 1 as a label is a positive integer that cannot be unmarshalled into `v1.Pod.metadata` of
 * type string.
 */
import type { Json, Loose } from '#api/object-meta.ts'
import { canonicalQuantity, QuantityError } from '#api/quantity.ts'
import { goQuote } from '#api/go-syntax.ts'
import { exactInteger } from '#codec/exact-integer.ts'
import { base64Fault } from '#codec/go-json/base64-fault.ts'
import { goTypeName } from '#codec/go-json/go-name.ts'
import { timeFault } from '#codec/go-json/time-fault.ts'
import { setKey } from '#schema/user-key.ts'
import type { Dict, List, Scalar, ScalarName, Struct, Type } from '#schema/type.ts'
import { type Item, typeNameOf } from './item.ts'
import {
  duplicateKey,
  type Encoding,
  encodingInside,
  type Findings,
  readMap,
  readSimple,
  readText,
  readUntyped,
  signedOf,
  tagFault,
  withoutPrefix,
} from './untyped.ts'

export function readTyped(tagged: Item, type: Type, findings: Findings, around?: Encoding): Json {
  // These types accept any value unchanged.
  if (type.is === 'untyped' || (type.is === 'scalar' && keptAsItIs.has(type.scalar)))
    return readUntyped(tagged, findings, around)
  let item = withoutPrefix(tagged)
  const wrong = tagFault(item)
  if (wrong !== undefined) return findings.report(wrong)
  let encoding = around
  for (; item.is === 'tag'; item = item.content) encoding = encodingInside(item.number, encoding)
  if (item.is === 'simple' && item.value !== 20 && item.value !== 21)
    return readSimple(item.value, findings)
  const place: Place = { findings, encoding }
  switch (type.is) {
    case 'struct':
      return type.union === true ? readUnion(item, type, place) : readStruct(item, type, place)
    case 'list':
      return readList(item, type, place)
    case 'map':
      return readDict(item, type, place)
    case 'scalar':
      return readScalar(item, type, place)
  }
}

const keptAsItIs: ReadonlySet<ScalarName> = new Set<ScalarName>(['any', 'duration'])

interface Place {
  readonly findings: Findings
  readonly encoding: Encoding
}

/** A negative number beyond int64 is always reported as an overflow, whatever type was expected. */
function misfit(item: Item, goType: string, { findings }: Place, why?: string): null {
  const isOver = isInteger(item) && isTooLow(item)
  const more = isOver ? `${signedOf(item)} overflows Go's int64` : why
  const cborType = typeNameOf(item)
  return findings.report({ cborType, goType, ...(more !== undefined && { more }) })
}

const isTooLow = (item: Item): boolean => item.is === 'negative' && item.argument >= 2n ** 63n

function readList(item: Item, list: List, place: Place): Json {
  if (item.is !== 'array') return misfit(item, goTypeName(list), place)
  return item.items.map((one) => readTyped(one, list.items, place.findings, place.encoding))
}

function readDict(item: Item, dict: Dict, place: Place): Json {
  const { findings, encoding } = place
  if (item.is !== 'map') return misfit(item, goTypeName(dict), place)
  return readMap(item, findings, encoding, (one) => readTyped(one, dict.values, findings, encoding))
}

/** Decodes the matching member of a union; a scalar is unchanged. */
function readUnion(item: Item, { fields }: Struct, { findings, encoding }: Place): Json {
  const is = item.is === 'map' ? 'struct' : 'list'
  const member =
    item.is === 'map' || item.is === 'array'
      ? fields.find(({ type }) => type.is === is)?.type
      : undefined
  return member === undefined
    ? readUntyped(item, findings, encoding)
    : readTyped(item, member, findings, encoding)
}

function readStruct(item: Item, struct: Struct, place: Place): Json {
  const { findings } = place
  const name = goTypeName(struct)
  if (item.is === 'array') {
    const more = 'cannot decode CBOR array to struct without toarray option'
    return misfit(item, name, place, more)
  }
  if (item.is !== 'map') return misfit(item, name, place)
  const before = findings.fault
  const unknownBefore = findings.unknownAt
  const object: Loose = {}
  const found = new Set<string>()
  let isUnknown = false
  for (const [index, [keyItem, value]] of item.pairs.entries()) {
    const key = fieldKey(keyItem, place)
    if (key === undefined) continue
    if (found.has(key)) {
      findings.fault = before ?? duplicateKey(shownKey(key), index)
      return object as Json
    }
    found.add(key)
    const field = key.startsWith(textKey) ? struct.byName.get(key.slice(1)) : undefined
    if (field === undefined) {
      // Go's strict decoder stops at the first unknown field of a map.
      if (!isUnknown && !findings.isQuiet) findings.unknownAt = unknownBefore ?? index
      isUnknown = true
      continue
    }
    const read = () =>
      readField(value, field.type, `${name}.${field.name}`, place, (made) =>
        setKey(object, field.name, made),
      )
    if (isUnknown) findings.quietly(read)
    else read()
  }
  return object as Json
}

/** A fault names the outermost field that contains it, which is set last. */
function readField(
  item: Item,
  type: Type,
  path: string,
  { findings, encoding }: Place,
  keep: (value: Json) => void,
): void {
  const before = findings.fault
  keep(readTyped(item, type, findings, encoding))
  const { fault } = findings
  if (fault !== before && typeof fault === 'object') fault.field = path
}

/** The prefix of text keys here, which distinguishes them from numeric keys. */
const textKey = '"'
const shownKey = (key: string): string => (key.startsWith(textKey) ? goQuote(key.slice(1)) : key)

/** The key of a field: text, or a number, which matches no field. */
function fieldKey(item: Item, place: Place): string | undefined {
  const { findings } = place
  switch (item.is) {
    case 'bytes':
      return textKey + item.bytes.toString('utf8')
    case 'text': {
      const text = readText(item, undefined, findings)
      return text === undefined ? undefined : textKey + text
    }
    case 'positive':
    case 'negative':
      if (item.argument < 2n ** 63n) return String(signedOf(item))
      findings.report({
        cborType: typeNameOf(item),
        goType: 'int64',
        more: `${overflown(item)} overflows Go's int64`,
      })
      return undefined
    default: {
      const type = typeNameOf(item)
      const more = `map key is of type ${type} and cannot be used to match struct field name`
      misfit(item, 'string', place, more)
      return undefined
    }
  }
}

const overflown = ({ is, argument }: Item & { argument: bigint }): string =>
  is === 'positive' ? String(argument) : `-1-${argument}`

function readScalar(item: Item, type: Scalar, place: Place): Json {
  const { scalar } = type
  switch (scalar) {
    case 'bool':
      return item.is === 'simple' ? item.value === 21 : misfit(item, goTypeName(type), place)
    case 'float64':
      if (item.is === 'float') return item.value
      if (isInteger(item) && !isTooLow(item)) return Number(signedOf(item))
      return misfit(item, goTypeName(type), place)
    case 'bytes':
      return readBytes(item, place)
    case 'time':
    case 'microTime':
    case 'quantity':
      return readOwnText(item, scalar, place)
    case 'intOrString':
      if (item.is === 'bytes' || item.is === 'text') return readString(item, 'string', place)
      return readInteger(item, 'int32', 'int32', place)
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
      return readInteger(item, scalar, goTypeName(type), place)
    default:
      return readString(item, goTypeName(type), place)
  }
}

const isInteger = (item: Item): item is Item & { argument: bigint } =>
  item.is === 'positive' || item.is === 'negative'

function readString(item: Item, goType: string, place: Place): Json {
  if (item.is !== 'bytes' && item.is !== 'text') return misfit(item, goType, place)
  return readText(item, place.encoding, place.findings) ?? null
}

const ranges = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const

function readInteger(item: Item, type: keyof typeof ranges, goType: string, place: Place): Json {
  if (!isInteger(item) || isTooLow(item)) return misfit(item, goType, place)
  const value = signedOf(item)
  const [min, max] = ranges[type]
  if (item.is === 'negative' && min === 0n) return misfit(item, goType, place)
  if (value < min || value > max) return misfit(item, goType, place, `${value} overflows ${goType}`)
  return exactInteger(value) as Json
}

/** A byte string contains base64, as in JSON, or raw bytes if a tag declares an encoding. */
function readBytes(item: Item, place: Place): Json {
  if (item.is === 'array') {
    const numbers = item.items.map((one) => readInteger(one, 'uint32', 'uint8', place)) as number[]
    return place.findings.fault ? null : Buffer.from(numbers).toString('base64')
  }
  if (item.is !== 'bytes') return misfit(item, '[]uint8', place)
  if (place.encoding !== undefined) return item.bytes.toString('base64')
  const text = item.bytes.toString('latin1')
  const fault = base64Fault(text)
  if (fault === undefined) return text
  return place.findings.report(`cbor: failed to decode base64 from byte string: ${fault}`)
}

/** Types that parse their own text. */
function readOwnText(item: Item, scalar: 'time' | 'microTime' | 'quantity', place: Place): Json {
  const value = readString(item, 'string', place)
  if (typeof value !== 'string') return value
  const fault = scalar === 'quantity' ? quantityFault(value.trim()) : timeFault(value, scalar)
  if (fault !== undefined) return place.findings.report(fault)
  return scalar === 'quantity' ? value.trim() : value
}

function quantityFault(text: string): string | undefined {
  try {
    canonicalQuantity(text)
    return undefined
  } catch (error) {
    if (error instanceof QuantityError) return error.message
    throw error
  }
}
