/**
 * Functions of optional values. `or` and `orValue` are in plan-call.ts: they read their argument
 * only if needed.
 */
import { ArrayList } from '#cel/collections.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { showValue } from '#cel/show-value.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  Timestamp,
  Uint,
  type Value,
} from '#cel/values.ts'

const zeroTimeSeconds = -62_135_596_800

/** Whether a value is the zero value of its type: `0`, `''`, `[]`, `null`. */
function isZero(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return !value
    case 'string':
      return value === ''
    case 'bigint':
      return value === 0n
    case 'number':
      return value === 0
  }
  if (value === null) return true
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof StructValue) return value.fields.size === 0
  return value instanceof Timestamp && value.seconds === zeroTimeSeconds && value.nanos === 0
}

function unwrap(list: ListValue): Value {
  const values: Value[] = []
  for (const element of list) {
    if (!(element instanceof Optional))
      return new CelError(`value ${showValue(element)} is not optional`)
    if (element.value !== undefined) values.push(element.value)
  }
  return new ArrayList(values)
}

const elementAt = (list: ListValue, index: number): Value =>
  list.size === 0 ? Optional.none : new Optional(list.at(index))

/** The value null is a value too. */
const valueOf = ({ value }: Optional): Value =>
  value === undefined ? new CelError('optional.none() dereference') : value

// biome-ignore lint/suspicious/noExplicitAny: the types of the arguments follow from the overload
const of = (call: (...args: any[]) => Value): Implementation => call as Implementation

/** Implementations by the id of the overload. */
export const optionalImplementations: readonly (readonly [string, Implementation])[] = [
  ['optional_of', (value) => new Optional(value)],
  ['optional_ofNonZeroValue', (value) => (isZero(value) ? Optional.none : new Optional(value))],
  ['optional_none', () => Optional.none],
  ['optional_value', of(valueOf)],
  ['optional_hasValue', of((optional: Optional) => optional.value !== undefined)],
  ['list_first', of((list: ListValue) => elementAt(list, 0))],
  ['list_last', of((list: ListValue) => elementAt(list, list.size - 1))],
  ['optional_unwrap', of(unwrap)],
  ['optional_unwrapOpt', of(unwrap)],
]
