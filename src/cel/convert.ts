/** Conversions between types: `int('1')`, `string(1.5)`, `timestamp(x)`, `bytes(s)`. */
import { parseDuration } from '#api/duration.ts'
import { goFloat } from '#api/go-syntax.ts'
import {
  intOverflow,
  isInt64,
  isTimestampInRange,
  isUint64,
  timestampOverflow,
  uintOverflow,
} from './arithmetic.ts'
import { durationText, formatTimestamp, readTimestamp } from './time.ts'
import { CelError, Duration, Timestamp, typeName, typeNames, Uint, type Value } from './values.ts'

const conversionError = (value: Value, to: string): CelError =>
  new CelError(`type conversion error from '${typeName(value)}' to '${to}'`)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

const twoTo63 = 2 ** 63
const twoTo64 = 2 ** 64

export function toInt(value: Value): Value {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') {
    const inRange = value > -twoTo63 && value < twoTo63
    return inRange ? BigInt(Math.trunc(value)) : intOverflow
  }
  if (typeof value === 'string') {
    const number = /^[+-]?\d{1,400}$/.test(value) ? BigInt(value.replace('+', '')) : undefined
    return number !== undefined && isInt64(number) ? number : conversionError(value, typeNames.int)
  }
  if (value instanceof Uint) return isInt64(value.value) ? value.value : intOverflow
  if (value instanceof Duration) return value.nanos
  if (value instanceof Timestamp) return BigInt(value.seconds)
  return conversionError(value, typeNames.int)
}

export function toUint(value: Value): Value {
  if (value instanceof Uint) return value
  if (typeof value === 'bigint') return value < 0n ? uintOverflow : new Uint(value)
  if (typeof value === 'number') {
    const inRange = value >= 0 && value < twoTo64
    return inRange ? new Uint(BigInt(Math.trunc(value))) : uintOverflow
  }
  if (typeof value === 'string' && /^\d{1,400}$/.test(value)) {
    const number = BigInt(value)
    if (isUint64(number)) return new Uint(number)
  }
  return conversionError(value, typeNames.uint)
}

const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const hexNumber = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/

/** A double as Go's ParseFloat reads it; undefined if it does not. */
function parseDouble(text: string): number | undefined {
  if (decimalNumber.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? value : undefined
  }
  if (/^[+-]?inf(?:inity)?$/i.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (/^nan$/i.test(text)) return Number.NaN
  const hex = hexNumber.exec(text)
  if (hex === null) return undefined
  const [, sign, whole, fraction, exponent] = hex as unknown as [
    string,
    string,
    string,
    string,
    string,
  ]
  if (whole === '' && fraction === '') return undefined
  const size =
    Number.parseInt(`0${whole}${fraction}`, 16) * 2 ** (Number(exponent) - 4 * fraction.length)
  return sign === '-' ? -size : size
}

export function toDouble(value: Value): Value {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint) return Number(value.value)
  if (typeof value === 'string')
    return parseDouble(value) ?? conversionError(value, typeNames.double)
  return conversionError(value, typeNames.double)
}

export function toText(value: Value): Value {
  switch (typeof value) {
    case 'string':
      return value
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'number':
      return goFloat(value)
  }
  if (value === null) return 'null'
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (!(value instanceof Uint8Array)) return conversionError(value, typeNames.string)
  try {
    return decoder.decode(value)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

const trueTexts = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const falseTexts = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

export function toBool(value: Value): Value {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') {
    if (trueTexts.has(value)) return true
    if (falseTexts.has(value)) return false
  }
  return conversionError(value, typeNames.bool)
}

export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return encoder.encode(value)
  return conversionError(value, typeNames.bytes)
}

export function toDuration(value: Value): Value {
  if (value instanceof Duration) return value
  if (typeof value === 'string') {
    const nanos = parseDuration(value)
    if (nanos !== undefined) return new Duration(nanos)
  }
  return conversionError(value, typeNames.duration)
}

export function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value
  if (typeof value === 'bigint')
    return isTimestampInRange(Number(value)) ? new Timestamp(Number(value), 0) : timestampOverflow
  if (typeof value === 'string')
    return readTimestamp(value) ?? conversionError(value, typeNames.timestamp)
  return conversionError(value, typeNames.timestamp)
}
