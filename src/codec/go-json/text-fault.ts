/**
 * Go's error for a text that a type with its own JSON parser rejects; undefined if the type accepts
 * it.
 */
import { canonicalDuration } from '#api/duration.ts'
import type { Json } from '#api/object-meta.ts'
import { canonicalQuantity, QuantityError } from '#api/quantity.ts'
import { canonicalMicroTimestamp, canonicalTimestamp } from '#api/timestamp.ts'
import type { Scalar } from '#schema/type.ts'
import { durationFault, timeFault } from './time-fault.ts'

/** The names of JSON types in Go's encoding/json. */
export const jsonKind = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

/** `text` is one JSON value. */
export function textFault({ scalar, named }: Scalar, text: string): string | undefined {
  if (named === 'v1.Fields') return fieldsFault(JSON.parse(text))
  switch (scalar) {
    case 'quantity':
      return quantityFault(text)
    case 'intOrString':
      return text.startsWith('"') || text === 'null' ? undefined : unfit(text, 'int32')
    case 'time':
    case 'microTime':
    case 'duration':
      return spelledFault(scalar, text)
    default:
      return undefined
  }
}

/** Fields are maps of maps: the error of the first value that is not a map. */
function fieldsFault(value: unknown): string | undefined {
  if (value === null) return undefined
  if (typeof value === 'object' && !Array.isArray(value)) {
    return Object.values(value).map(fieldsFault).find(Boolean)
  }
  const found = Array.isArray(value) ? 'array' : goKinds[typeof value]
  return `json: cannot unmarshal ${found} into Go value of type map[string]v1.Fields`
}
const goKinds: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'bool',
}

/** Go removes the quotes without unescaping, so a text with an escape is not a quantity. */
function quantityFault(text: string): string | undefined {
  if (text === 'null') return undefined
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"')
  try {
    canonicalQuantity((isQuoted ? text.slice(1, -1) : text).trim())
    return undefined
  } catch (error) {
    if (error instanceof QuantityError) return error.message
    throw error
  }
}

function spelledFault(scalar: 'time' | 'microTime' | 'duration', text: string): string | undefined {
  if (text === 'null') return undefined
  if (!text.startsWith('"')) return unfit(text, 'string')
  const spelled = JSON.parse(text) as string
  if (scalar === 'duration') {
    return canonicalDuration(spelled) === undefined ? durationFault(spelled) : undefined
  }
  const read = scalar === 'time' ? canonicalTimestamp : canonicalMicroTimestamp
  return read(spelled) === undefined ? timeFault(spelled, scalar) : undefined
}

/** The error for a JSON text that is decoded into a single value of a Go type. */
function unfit(text: string, goType: 'int32' | 'string'): string | undefined {
  const isNumber = /^[-0-9]/.test(text)
  if (goType === 'int32' && /^-?[0-9]+$/.test(text)) {
    const value = BigInt(text)
    if (value === BigInt.asIntN(32, value)) return undefined
  }
  const found = !isNumber
    ? jsonKind(JSON.parse(text) as Json)
    : goType === 'int32'
      ? `number ${text}`
      : 'number'
  return `json: cannot unmarshal ${found} into Go value of type ${goType}`
}
