/**
 * Values of expressions as JSON, for patches: `Object{spec: Object.spec{replicas: 3}}` is
 * `{"spec":{"replicas":3}}`. Times, durations and bytes become the texts that protobuf's JSON has
 * for them.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { setKey } from '#schema/user-key.ts'
import { durationText, formatTimestamp } from './time.ts'
import { isGoValue } from './typed-view.ts'
import {
  Duration,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  Timestamp,
  typeName,
  Uint,
  type Value,
} from './values.ts'

/** A value that has no JSON. */
export class NoJson extends Error {}

/** Deepest nesting that is converted; objects of kube-apiserver are never as deep. */
const depthMax = 200

/**
 * The JSON of a value for protobuf, which cannot convert values of Go. Throws NoJson.
 */
export function toProtoJson(value: Value): Json {
  return toJson(value, 0, true)
}

/** Integers a double cannot hold are bigint. Throws NoJson. */
export function toJson(value: Value, depth = 0, isProto = false): Json {
  if (depth > depthMax) throw new NoJson('exceeded max depth')
  if (isProto && isGoValue(value)) throw new NoJson(value.conversionProblem)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'bigint':
      return integerJson(value)
    case 'number':
      if (!Number.isFinite(value)) throw new NoJson(`json: unsupported value: ${value}`)
      return value
  }
  if (value === null) return null
  if (value instanceof Uint) return integerJson(value.value)
  if (value instanceof Optional)
    return value.value === undefined ? null : toJson(value.value, depth + 1, isProto)
  if (value instanceof ListValue) return [...value].map((item) => toJson(item, depth + 1, isProto))
  if (value instanceof MapValue)
    return membersJson(
      [...value.keys()].map((key) => [key, value.find(key) as Value] as const),
      depth,
      isProto,
    )
  if (value instanceof StructValue) return membersJson([...value.fields], depth, isProto)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  throw new NoJson(`unsupported type conversion from '${typeName(value)}' to JSON`)
}

const integerJson = (value: bigint): Json =>
  Number.isSafeInteger(Number(value)) ? Number(value) : (value as unknown as Json)

function membersJson(
  entries: Iterable<readonly [Value, Value]>,
  depth: number,
  isProto: boolean,
): Json {
  const object: { [key: string]: Json } = {}
  for (const [key, value] of entries) {
    if (typeof key !== 'string')
      throw new NoJson(`map key ${goQuote(String(key))} is of type ${typeName(key)}, not string`)
    setKey(object, key, toJson(value, depth + 1, isProto))
  }
  return object
}

/**
 * Whether the type names in a value are those of their places: in the field `spec` of an `Object`
 * is an `Object.spec`. Undefined if all are, else what is wrong.
 */
export function misplacedTypes(value: StructValue): string | undefined {
  const problems: string[] = []
  look(value, value.typeName, problems, 0)
  return problems.length === 0 ? undefined : problems.join('\n')
}

function look(value: Value, place: string, problems: string[], depth: number): void {
  if (depth > depthMax) return
  if (value instanceof StructValue) {
    if (value.typeName !== place)
      problems.push(
        `unexpected type name ${goQuote(value.typeName)}, expected ${goQuote(place)}, which matches field name path from root Object type`,
      )
    for (const [name, field] of value.fields) look(field, `${place}.${name}`, problems, depth + 1)
  } else if (value instanceof ListValue) {
    for (const item of value) look(item, place, problems, depth + 1)
  } else if (value instanceof MapValue) {
    for (const key of value.keys()) look(value.find(key) as Value, place, problems, depth + 1)
  }
}
