/** `+ - * / %` and negation, with cel-go's errors: integers never wrap around. */
import {
  CelError,
  Duration,
  ListValue,
  overloadError,
  Timestamp,
  Uint,
  type Value,
} from './values.ts'

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const uint64Max = 2n ** 64n - 1n

const divisionByZero = new CelError('division by zero')
const modulusByZero = new CelError('modulus by zero')
export const intOverflow = new CelError('integer overflow')
export const uintOverflow = new CelError('unsigned integer overflow')
export const timestampOverflow = new CelError('timestamp overflow')

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds of Unix. */
const timestampSecondsMin = -62_135_596_800
const timestampSecondsMax = 253_402_300_799

export const isTimestampInRange = (seconds: number): boolean =>
  seconds >= timestampSecondsMin && seconds <= timestampSecondsMax

export const isInt64 = (value: bigint): boolean => value >= int64Min && value <= int64Max
export const isUint64 = (value: bigint): boolean => value >= 0n && value <= uint64Max

const int = (value: bigint): Value => (isInt64(value) ? value : intOverflow)
const uint = (value: bigint): Value => (isUint64(value) ? new Uint(value) : uintOverflow)
const duration = (nanos: bigint): Value => (isInt64(nanos) ? new Duration(nanos) : intOverflow)

const nanosPerSecond = 1_000_000_000

function shift(time: Timestamp, nanos: bigint): Value {
  const total = BigInt(time.nanos) + nanos
  const perSecond = BigInt(nanosPerSecond)
  let seconds = total / perSecond
  let rest = total % perSecond
  if (rest < 0n) {
    rest += perSecond
    seconds -= 1n
  }
  const sum = time.seconds + Number(seconds)
  if (!isTimestampInRange(sum)) return timestampOverflow
  return new Timestamp(sum, Number(rest), time.offsetSeconds)
}

function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

export function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a + b) : overloadError(b)
  if (typeof a === 'string') return typeof b === 'string' ? a + b : overloadError(b)
  if (typeof a === 'number') return typeof b === 'number' ? a + b : overloadError(b)
  if (a instanceof ListValue) return b instanceof ListValue ? a.concat(b) : overloadError(b)
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value + b.value) : overloadError(b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? joinBytes(a, b) : overloadError(b)
  if (a instanceof Timestamp) return b instanceof Duration ? shift(a, b.nanos) : overloadError(b)
  if (a instanceof Duration) {
    if (b instanceof Duration) return duration(a.nanos + b.nanos)
    return b instanceof Timestamp ? shift(b, a.nanos) : overloadError(b)
  }
  return overloadError(a)
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a - b) : overloadError(b)
  if (typeof a === 'number') return typeof b === 'number' ? a - b : overloadError(b)
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value - b.value) : overloadError(b)
  if (a instanceof Duration)
    return b instanceof Duration ? duration(a.nanos - b.nanos) : overloadError(b)
  if (a instanceof Timestamp) {
    if (b instanceof Duration) return isInt64(-b.nanos) ? shift(a, -b.nanos) : intOverflow
    if (!(b instanceof Timestamp)) return overloadError(b)
    const seconds = BigInt(a.seconds - b.seconds) * BigInt(nanosPerSecond)
    if (!isInt64(seconds)) return intOverflow
    return duration(seconds + BigInt(a.nanos - b.nanos))
  }
  return overloadError(a)
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a * b) : overloadError(b)
  if (typeof a === 'number') return typeof b === 'number' ? a * b : overloadError(b)
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value * b.value) : overloadError(b)
  return overloadError(a)
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'bigint') {
    if (typeof b !== 'bigint') return overloadError(b)
    return b === 0n ? divisionByZero : int(a / b)
  }
  if (typeof a === 'number') return typeof b === 'number' ? a / b : overloadError(b)
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return overloadError(b)
    return b.value === 0n ? divisionByZero : new Uint(a.value / b.value)
  }
  return overloadError(a)
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint') {
    if (typeof b !== 'bigint') return overloadError(b)
    if (b === 0n) return modulusByZero
    return a === int64Min && b === -1n ? intOverflow : a % b
  }
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return overloadError(b)
    return b.value === 0n ? modulusByZero : new Uint(a.value % b.value)
  }
  return overloadError(a)
}

export function negate(value: Value): Value {
  if (typeof value === 'bigint') return int(-value)
  if (typeof value === 'number') return -value
  if (value instanceof Duration) return duration(-value.nanos)
  return overloadError(value)
}
