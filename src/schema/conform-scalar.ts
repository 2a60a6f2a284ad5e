/** Normalises each scalar type to the form that Go writes, and defines its zero value. */
import { canonicalDuration } from '#api/duration.ts'
import type { Json } from '#api/object-meta.ts'
import { canonicalQuantity, QuantityError } from '#api/quantity.ts'
import { canonicalMicroTimestamp, canonicalTimestamp } from '#api/timestamp.ts'
import { Misfit } from './misfit.ts'
import type { Scalar, ScalarName } from './type.ts'

/** Integers that a double cannot represent exactly are bigint. */
type Raw = Json | bigint

interface ScalarRule {
  read(raw: Raw): Json
  zero(): Json
  readonly always: boolean
}

function readString(raw: Raw): Json {
  if (typeof raw !== 'string') throw new Misfit('a string', raw)
  return raw
}

function readBool(raw: Raw): Json {
  if (typeof raw !== 'boolean') throw new Misfit('a boolean', raw)
  return raw
}

const integerWithin =
  (name: string, min: bigint, max: bigint) =>
  (raw: Raw): Json => {
    const fits =
      typeof raw === 'number'
        ? Number.isInteger(raw) && raw >= min && raw <= max
        : typeof raw === 'bigint' && raw >= min && raw <= max
    if (!fits) throw new Misfit(`an ${name}`, raw)
    return raw as Json
  }

function readFloat(raw: Raw): Json {
  if (typeof raw === 'bigint') return Number(raw)
  if (typeof raw !== 'number') throw new Misfit('a number', raw)
  return raw
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Standard base64 with padding, line breaks ignored; a list of byte values is accepted as Go
 * accepts it.
 */
function readBytes(raw: Raw): Json {
  if (Array.isArray(raw)) return Buffer.from(raw.map(byteOf)).toString('base64')
  if (typeof raw !== 'string') throw new Misfit('base64 text', raw)
  const again = Buffer.from(raw, 'base64').toString('base64')
  if (again === raw) return raw
  const joined = raw.replace(/[\r\n]/g, '')
  const whole = joined.length % 4 === 0 && joined.length === again.length
  if (!whole || !base64.test(joined)) throw new Misfit('base64 text', raw)
  return again
}

function byteOf(value: Raw): number {
  if (value === null) return 0
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 255) {
    throw new Misfit('a byte', value)
  }
  return value
}

const spelled =
  (what: string, canonical: (text: string) => string | null | undefined) =>
  (raw: Raw): Json => {
    if (typeof raw !== 'string') throw new Misfit(what, raw)
    const value = canonical(raw)
    if (value === undefined) throw new Misfit(what, raw)
    return value
  }

function readQuantity(raw: Raw): Json {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'bigint') {
    throw new Misfit('a quantity', raw)
  }
  try {
    return canonicalQuantity(String(raw).trim())
  } catch (error) {
    if (error instanceof QuantityError) throw new Misfit('a quantity', raw)
    throw error
  }
}

const readInt32 = integerWithin('int32', -(2n ** 31n), 2n ** 31n - 1n)

const nothing = () => null
const zeroNumber = () => 0

/** Scalars that are structs in Go (`always`) are written even if they are zero. */
const scalarRules: Readonly<Record<ScalarName, ScalarRule>> = {
  string: { read: readString, zero: () => '', always: false },
  bool: { read: readBool, zero: () => false, always: false },
  int32: { read: readInt32, zero: zeroNumber, always: false },
  int64: {
    read: integerWithin('int64', -(2n ** 63n), 2n ** 63n - 1n),
    zero: zeroNumber,
    always: false,
  },
  uint32: { read: integerWithin('uint32', 0n, 2n ** 32n - 1n), zero: zeroNumber, always: false },
  uint64: { read: integerWithin('uint64', 0n, 2n ** 64n - 1n), zero: zeroNumber, always: false },
  float64: { read: readFloat, zero: zeroNumber, always: false },
  bytes: { read: readBytes, zero: nothing, always: false },
  time: { read: spelled('a time', canonicalTimestamp), zero: nothing, always: true },
  microTime: {
    read: spelled('a time with six decimals', canonicalMicroTimestamp),
    zero: nothing,
    always: true,
  },
  duration: { read: spelled('a duration', canonicalDuration), zero: () => '0s', always: true },
  quantity: { read: readQuantity, zero: () => '0', always: true },
  intOrString: {
    read: (raw) => (typeof raw === 'string' ? raw : readInt32(raw)),
    zero: zeroNumber,
    always: true,
  },
  any: { read: (raw) => raw as Json, zero: nothing, always: true },
}

/** The fieldset of a manager as 1.15 wrote it: nested maps. */
function readFields(raw: Raw): Json {
  if (raw === null) return raw
  if (typeof raw !== 'object' || Array.isArray(raw)) throw new Misfit('a map of fields', raw)
  for (const name in raw) readFields(raw[name] as Raw)
  return raw
}
const fieldsRule: ScalarRule = { ...scalarRules.any, read: readFields }

export const scalarRule = ({ scalar, named }: Scalar): ScalarRule =>
  named === 'v1.Fields' ? fieldsRule : scalarRules[scalar]
