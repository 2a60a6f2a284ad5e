/**
 * The operators and functions of CEL's standard library. Declarations with the same ids are in
 * declarations/.
 */
import { add, divide, modulo, multiply, negate, subtract } from '#cel/arithmetic.ts'
import { listContains } from '#cel/collections.ts'
import {
  toBool,
  toBytes,
  toDouble,
  toDuration,
  toInt,
  toText,
  toTimestamp,
  toUint,
} from '#cel/convert.ts'
import { compare } from '#cel/equality.ts'
import type { Implementation, SingleImplementation } from '#cel/plan-call.ts'
import { compileRegex } from '#cel/regex.ts'
import { codePoints } from '#cel/runtime-cost.ts'
import { type TimestampField, timestampField } from '#cel/time.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  overloadError,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from '#cel/values.ts'

const isNumber = (value: Value): boolean =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint

const isText = (value: Value): boolean => typeof value === 'string' || value instanceof Uint8Array

const adds = (value: Value): boolean =>
  isNumber(value) ||
  isText(value) ||
  value instanceof ListValue ||
  value instanceof Duration ||
  value instanceof Timestamp

const subtracts = (value: Value): boolean =>
  isNumber(value) || value instanceof Duration || value instanceof Timestamp

const compares = (value: Value): boolean =>
  typeof value === 'boolean' || isText(value) || subtracts(value)

const hasSize = (value: Value): boolean =>
  isText(value) || value instanceof ListValue || value instanceof MapValue

const negates = (value: Value): boolean =>
  typeof value === 'boolean' ||
  typeof value === 'bigint' ||
  typeof value === 'number' ||
  value instanceof Duration

function comparison(holds: (order: number) => boolean): SingleImplementation {
  return {
    accepts: compares,
    call: (a, b) => {
      const order = compare(a, b)
      return typeof order === 'number' ? holds(order) : order
    },
  }
}

function contains(element: Value, collection: Value): Value {
  if (collection instanceof ListValue)
    return collection.containsOwn?.(element) ?? listContains(collection, element)
  if (!(collection instanceof MapValue)) return overloadError(collection)
  const found = collection.find(element)
  return found instanceof CelError ? found : found !== undefined
}

function sizeOf(value: Value): Value {
  if (typeof value === 'string') return BigInt(codePoints(value))
  if (value instanceof Uint8Array) return BigInt(value.length)
  if (value instanceof ListValue || value instanceof MapValue) return BigInt(value.size)
  return overloadError(value)
}

function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return overloadError(pattern)
  const compiled = compileRegex(pattern)
  return compiled instanceof CelError ? compiled : compiled.test(text)
}

/** Functions that have one implementation for all types. */
export const singleImplementations: ReadonlyMap<string, SingleImplementation> = new Map<
  string,
  SingleImplementation
>([
  ['_+_', { call: add, accepts: adds }],
  ['_-_', { call: subtract, accepts: subtracts }],
  ['_*_', { call: multiply, accepts: isNumber }],
  ['_/_', { call: divide, accepts: isNumber }],
  ['_%_', { call: modulo, accepts: (v) => typeof v === 'bigint' || v instanceof Uint }],
  ['-_', { call: negate, accepts: negates }],
  ['!_', { call: (v) => (typeof v === 'boolean' ? !v : overloadError(v)) }],
  ['_<_', comparison((order) => order < 0)],
  ['_<=_', comparison((order) => order <= 0)],
  ['_>_', comparison((order) => order > 0)],
  ['_>=_', comparison((order) => order >= 0)],
  ['@in', { call: contains }],
  ['size', { call: sizeOf, accepts: hasSize }],
  ['type', { call: (v) => new TypeValue(typeName(v)) }],
  ['dyn', { call: (v) => v }],
  ['matches', { call: matches, accepts: (v) => typeof v === 'string' }],
])

const ofText =
  (call: (text: string, part: string) => Value): Implementation =>
  (text, part) =>
    typeof text === 'string' && typeof part === 'string' ? call(text, part) : overloadError(part)

const fieldOf =
  (field: TimestampField): Implementation =>
  (time, zone) =>
    timestampField(field, time as Timestamp, typeof zone === 'string' ? zone : 'UTC')

const unitOf =
  (nanos: bigint): Implementation =>
  (duration) =>
    (duration as Duration).nanos / nanos

const timestampFields: readonly (readonly [string, TimestampField])[] = [
  ['timestamp_to_year', 'getFullYear'],
  ['timestamp_to_month', 'getMonth'],
  ['timestamp_to_day_of_year', 'getDayOfYear'],
  ['timestamp_to_day_of_month', 'getDayOfMonth'],
  ['timestamp_to_day_of_month_1_based', 'getDate'],
  ['timestamp_to_day_of_week', 'getDayOfWeek'],
  ['timestamp_to_hours', 'getHours'],
  ['timestamp_to_minutes', 'getMinutes'],
  ['timestamp_to_seconds', 'getSeconds'],
  ['timestamp_to_milliseconds', 'getMilliseconds'],
]

const conversions: readonly (readonly [Implementation, ...string[]])[] = [
  [toBool, 'bool_to_bool', 'string_to_bool'],
  [toBytes, 'bytes_to_bytes', 'string_to_bytes'],
  [toDouble, 'double_to_double', 'int64_to_double', 'string_to_double', 'uint64_to_double'],
  [toDuration, 'duration_to_duration', 'string_to_duration'],
  [toInt, 'int64_to_int64', 'double_to_int64', 'duration_to_int64', 'string_to_int64'],
  [toInt, 'timestamp_to_int64', 'uint64_to_int64'],
  [toUint, 'uint64_to_uint64', 'double_to_uint64', 'int64_to_uint64', 'string_to_uint64'],
  [toTimestamp, 'timestamp_to_timestamp', 'int64_to_timestamp', 'string_to_timestamp'],
  [toText, 'string_to_string', 'bool_to_string', 'bytes_to_string', 'double_to_string'],
  [toText, 'duration_to_string', 'int64_to_string', 'timestamp_to_string', 'uint64_to_string'],
]

/** Implementations by the id of the overload. */
export const standardImplementations: readonly (readonly [string, Implementation])[] = [
  ...conversions.flatMap(([call, ...ids]) => ids.map((id) => [id, call] as const)),
  ...timestampFields.flatMap(([id, field]) => [
    [id, fieldOf(field)] as const,
    [
      id === 'timestamp_to_seconds' ? 'timestamp_to_seconds_tz' : `${id}_with_tz`,
      fieldOf(field),
    ] as const,
  ]),
  ['duration_to_hours', unitOf(3_600_000_000_000n)],
  ['duration_to_minutes', unitOf(60_000_000_000n)],
  ['duration_to_seconds', unitOf(1_000_000_000n)],
  ['duration_to_milliseconds', unitOf(1_000_000n)],
  ['contains_string', ofText((text, part) => text.includes(part))],
  ['starts_with_string', ofText((text, part) => text.startsWith(part))],
  ['ends_with_string', ofText((text, part) => text.endsWith(part))],
]
