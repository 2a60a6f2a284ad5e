/**
 * Converts a patched map back to an object of its type, as kube-apiserver does by reflection after
 * a strategic merge patch and an apply. It visits fields in the order of their declaration. Its
 * errors differ from decoding errors, and integers are truncated to the size of their field.
 */
import { parseDuration } from '#api/duration.ts'
import type { Json } from '#api/object-meta.ts'
import { parseQuantity, QuantityError } from '#api/quantity.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { durationFault, timeFault } from '#codec/go-json/time-fault.ts'
import type { Field, Scalar, ScalarName, Struct, Type } from '#schema/type.ts'
import { goKind } from './go-value.ts'
import { isMap, type JsonMap, ownValue, setMember } from './json-map.ts'

/** A value does not fit its type; the message is kube-apiserver's. */
export class RestoreError extends Error {}

/**
 * Drops undeclared members. `known` is an object of the type; parts that are identical with its
 * parts are reused. Throws RestoreError.
 */
export function restore(type: Type, value: Json, known?: Json): Json {
  if (value === null || value === known) return value
  switch (type.is) {
    case 'scalar':
      return restoreScalar(type, value)
    case 'list':
      if (!Array.isArray(value))
        throw new RestoreError(`cannot restore slice from ${goKind(value)}`)
      return restoreItems(type.items, value, known)
    case 'map': {
      if (!isMap(value)) throw new RestoreError(`cannot restore map from ${goKind(value)}`)
      const before = isMap(known) ? known : nothing
      const out: JsonMap = {}
      for (const name in value) {
        setMember(out, name, restore(type.values, value[name] as Json, ownValue(before, name)))
      }
      return out
    }
    case 'struct':
      if (type.union === true) return value
      if (!isMap(value)) throw new RestoreError(`cannot restore struct from: ${goKind(value)}`)
      if (isMap(known) && isSameAs(value, known)) return value
      return restoreFields(type, value, isMap(known) ? known : nothing)
    case 'untyped':
      return value
  }
}

const nothing: JsonMap = {}

/** Whether the map was copied but has the identical members. */
function isSameAs(value: JsonMap, known: JsonMap): boolean {
  for (const name in value) if (value[name] !== ownValue(known, name)) return false
  return true
}

function restoreItems(items: Type, value: Json[], known: Json | undefined): Json[] {
  const before = Array.isArray(known) ? new Set(known) : undefined
  return value.map((item) => (before?.has(item) ? item : restore(items, item)))
}

function restoreFields(struct: Struct, value: JsonMap, known: JsonMap): JsonMap {
  const out: JsonMap = {}
  for (const { name, type, omitEmpty } of fieldsOf(struct)) {
    // Go's field names never collide with properties of Object.prototype.
    const member = value[name]
    if ((type.is === 'list' || type.is === 'map') && (member ?? null) === null) {
      // An empty list or map remains empty in Go, unless the field has omitempty.
      if (!omitEmpty && wasWrittenEmpty(value, name)) out[name] = type.is === 'list' ? [] : {}
      else if (member === null) out[name] = null
    } else if (member !== undefined) out[name] = restore(type, member, known[name])
  }
  return out
}

const flattened = new WeakMap<Struct, readonly Field[]>()

/** The fields of a struct and of its inlined structs, in the order of their declaration. */
function fieldsOf(struct: Struct): readonly Field[] {
  let fields = flattened.get(struct)
  if (fields === undefined) {
    fields = struct.fields.flatMap((field) =>
      field.inline ? fieldsOf(field.type as Struct) : [field],
    )
    flattened.set(struct, fields)
  }
  return fields
}

const integerBits: Partial<Record<ScalarName, (value: bigint) => bigint>> = {
  int32: (value) => BigInt.asIntN(32, value),
  int64: (value) => BigInt.asIntN(64, value),
  uint32: (value) => BigInt.asUintN(32, value),
  uint64: (value) => BigInt.asUintN(64, value),
}

function restoreScalar(type: Scalar, value: Json | bigint): Json {
  const { scalar } = type
  switch (scalar) {
    case 'string':
      if (typeof value === 'string') return value
      throw isInteger(value)
        ? cannotConvert(value, type)
        : new RestoreError('unrecognized type: string')
    case 'bool':
      if (typeof value === 'boolean') return value
      throw new RestoreError('unrecognized type: bool')
    case 'float64':
      if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
      throw new RestoreError('unrecognized type: float64')
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
      return restoreInteger(type, value)
    case 'bytes':
      return restoreBytes(value as Json)
    case 'any':
      return value as Json
    default:
      checkText(scalar, value as Json)
      return value as Json
  }
}

const isInteger = (value: Json | bigint): boolean =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))

const cannotConvert = (value: Json | bigint, { scalar, named }: Scalar): RestoreError =>
  new RestoreError(`cannot convert ${goKind(value)} to ${named ?? scalar}`)

function restoreInteger(type: Scalar, value: Json | bigint): Json {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new RestoreError(`unrecognized type: ${type.scalar}`)
  }
  if (!isInteger(value)) throw cannotConvert(value, type)
  const cut = integerBits[type.scalar]?.(BigInt(value)) ?? BigInt(value)
  return (
    cut >= Number.MIN_SAFE_INTEGER && cut <= Number.MAX_SAFE_INTEGER ? Number(cut) : cut
  ) as Json
}

function restoreBytes(value: Json): Json {
  if (Array.isArray(value)) {
    const byte: Scalar = { is: 'scalar', scalar: 'uint32', named: 'uint8' }
    const bytes = value.map((item) => {
      if (item !== null && typeof item !== 'number')
        throw new RestoreError('unrecognized type: uint8')
      return Number(item === null ? 0 : restoreInteger(byte, item)) & 255
    })
    return Buffer.from(bytes).toString('base64')
  }
  if (typeof value !== 'string')
    throw new RestoreError(`cannot restore slice from ${goKind(value)}`)
  const wrong = firstWrongBase64(value)
  if (wrong !== undefined) {
    throw new RestoreError(`error decoding from json: illegal base64 data at input byte ${wrong}`)
  }
  return value
}

/** The offset at which Go's decoder of padded base64 fails; it skips line breaks. */
function firstWrongBase64(text: string): number | undefined {
  let quantum = 0
  for (let i = 0; i < text.length; i++) {
    const ch = text[i] as string
    if (ch === '\n' || ch === '\r') continue
    if (/[A-Za-z0-9+/]/.test(ch)) {
      quantum = (quantum + 1) % 4
      continue
    }
    if (ch !== '=' || quantum < 2) return i
    return wrongPadding(text, i, quantum)
  }
  return quantum === 0 ? undefined : text.length - quantum
}

function wrongPadding(text: string, at: number, quantum: number): number | undefined {
  let next = at + 1
  const skipBreaks = () => {
    while (text[next] === '\n' || text[next] === '\r') next++
  }
  if (quantum === 2) {
    skipBreaks()
    if (next >= text.length) return text.length
    if (text[next] !== '=') return next
    next++
  }
  skipBreaks()
  return next < text.length ? next : undefined
}

const jsonKind = (value: Json): string => {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** Checks types that Go parses from text. */
function checkText(scalar: ScalarName, value: Json): void {
  if (scalar === 'quantity') {
    checkQuantity(value)
    return
  }
  if (scalar === 'intOrString') {
    checkIntOrString(value)
    return
  }
  if (typeof value !== 'string') {
    throw new RestoreError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type string`)
  }
  const fault = textFaultOf[scalar]?.(value)
  if (fault !== undefined) throw new RestoreError(fault)
}

const textFaultOf: Partial<Record<ScalarName, (text: string) => string | undefined>> = {
  duration: (text) => (parseDuration(text) === undefined ? durationFault(text) : undefined),
  time: (text) => timeFault(text, 'time'),
  microTime: (text) => timeFault(text, 'microTime'),
}

function checkQuantity(value: Json): void {
  try {
    parseQuantity(typeof value === 'string' ? value.trim() : JSON.stringify(value))
  } catch (error) {
    if (error instanceof QuantityError) throw new RestoreError(error.message)
    throw error
  }
}

function checkIntOrString(value: Json): void {
  if (typeof value === 'string') return
  const fits = typeof value === 'number' && Number.isInteger(value) && value === (value | 0)
  if (fits) return
  const what = typeof value === 'number' ? `number ${value}` : jsonKind(value)
  throw new RestoreError(`json: cannot unmarshal ${what} into Go value of type int32`)
}
