/**
 * `==` and the order of values, as cel-go has them. Numbers compare across types by their
 * mathematical value, and NaN equals nothing. Values of different types are unequal rather than an
 * error.
 */
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  overloadError,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'
import { elementWork, chargeRead, work } from './work.ts'

/**
 * A collection of a schema that compares in its own way: sets without order, map lists by their
 * keys.
 */
export interface OwnEquality {
  equalsOwn(other: Value): boolean | CelError
}

const hasOwnEquality = (value: object): value is OwnEquality & object => 'equalsOwn' in value

const isNumeric = (value: Value): value is bigint | number | Uint =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint

/** `a == b`. Only a list or map of a schema can make it an error. */
export function equal(a: Value, b: Value): boolean | CelError {
  if (typeof a === 'string') {
    // Texts of different lengths differ at once.
    if (typeof b === 'string' && a.length === b.length) chargeRead(a.length)
    return a === b
  }
  if (a instanceof OpaqueValue) return a.equals(b)
  if (a === b) return true
  if (a === null || b === null) return false
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0
  if (typeof a !== 'object') return false
  if (a instanceof CelError) return a
  if (typeof b !== 'object') return hasOwnEquality(a) ? a.equalsOwn(b) : false
  if (hasOwnEquality(a)) return a.equalsOwn(b)
  return equalObjects(a, b)
}

function equalObjects(a: Value & object, b: Value & object): boolean | CelError {
  if (a instanceof ListValue) return b instanceof ListValue && equalLists(a, b)
  if (a instanceof MapValue) return b instanceof MapValue && equalMaps(a, b)
  if (a instanceof Timestamp)
    return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b)
  if (a instanceof StructValue) return b instanceof StructValue && equalStructs(a, b)
  return false
}

function equalLists(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false
  work(elementWork * a.size)
  for (let index = 0; index < a.size; index += 1)
    if (equal(a.at(index), b.at(index)) === false) return false
  return true
}

function equalMaps(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  work(elementWork * a.size)
  for (const key of a.keys()) {
    const other = b.find(key)
    if (other === undefined || other instanceof CelError) return false
    if (equal(a.find(key) as Value, other) === false) return false
  }
  return true
}

function equalOptionals(a: Optional, b: Optional): boolean | CelError {
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equal(a.value, b.value)
}

function equalStructs(a: StructValue, b: StructValue): boolean {
  if (a.typeName !== b.typeName || a.fields.size !== b.fields.size) return false
  for (const [name, value] of a.fields) {
    const other = b.fields.get(name)
    if (other === undefined || equal(value, other) === false) return false
  }
  return true
}

type Order = -1 | 0 | 1

const order = <T>(a: T, b: T): Order => (a < b ? -1 : a > b ? 1 : 0)
const twoTo63 = 2 ** 63
const twoTo64 = 2 ** 64

/**
 * The order of two numbers of any type; undefined for NaN. JavaScript compares bigint and number
 * exactly.
 */
function compareNumbers(a: bigint | number | Uint, b: bigint | number | Uint): Order | undefined {
  const left = a instanceof Uint ? a.value : a
  const right = b instanceof Uint ? b.value : b
  if (Number.isNaN(left) || Number.isNaN(right)) return undefined
  // cel-go compares a double with an integer as doubles, so that 2^53 + 1 equals 2^53.
  if (typeof left === 'number' && typeof right === 'bigint')
    return compareDouble(left, right, b instanceof Uint)
  if (typeof left === 'bigint' && typeof right === 'number') {
    const reversed = compareDouble(right, left, a instanceof Uint)
    return reversed === 0 ? 0 : reversed === 1 ? -1 : 1
  }
  return order(left, right)
}

function compareDouble(double: number, integer: bigint, unsigned: boolean): Order {
  if (double < (unsigned ? 0 : -twoTo63)) return -1
  if (double > (unsigned ? twoTo64 : twoTo63)) return 1
  return order(double, Number(integer))
}

/** Bytes in the order of Go's bytes.Compare. */
function compareBytes(a: Uint8Array, b: Uint8Array): Order {
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index += 1)
    if (a[index] !== b[index]) return order(a[index], b[index])
  return order(a.length, b.length)
}

/** Without surrogates the order is that of JavaScript, which compares long texts faster. */
const surrogate = /[\ud800-\udfff]/
const longTextMin = 200

/** Strings in the order of their UTF-8 bytes, which is that of their code points. */
function compareStrings(a: string, b: string): Order {
  const shared = Math.min(a.length, b.length)
  if (shared > longTextMin && !(surrogate.test(a) || surrogate.test(b))) return order(a, b)
  for (let index = 0; index < shared; index += 1) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left === right) continue
    // A surrogate is part of a code point above every other unit of 16 bits.
    const leftHigh = left >= 0xd800 && left <= 0xdfff
    const rightHigh = right >= 0xd800 && right <= 0xdfff
    return leftHigh === rightHigh ? order(left, right) : leftHigh ? 1 : -1
  }
  return order(a.length, b.length)
}

/** The order of two values for `<` and its like; an error if they have none. */
export function compare(a: Value, b: Value): Order | CelError {
  if (isNumeric(a)) {
    if (Number.isNaN(a)) return notOrdered
    if (!isNumeric(b)) return overloadError(b)
    return compareNumbers(a, b) ?? notOrdered
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : overloadError(b)
  if (typeof a === 'boolean')
    return typeof b === 'boolean' ? order(Number(a), Number(b)) : overloadError(b)
  if (a instanceof Timestamp && b instanceof Timestamp)
    return order(a.seconds, b.seconds) || order(a.nanos, b.nanos)
  if (a instanceof Duration && b instanceof Duration) return order(a.nanos, b.nanos)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  return overloadError(b)
}

const notOrdered = new CelError('NaN values cannot be ordered')
