/** Checks the JSON type of a value against its schema, in kube-apiserver's order of checks. */
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { add, type Errors } from './check-result.ts'
import { isIntOrString, type JsonSchema } from './json-schema.ts'
import { type CheckOptions, formatOf } from './schema-format.ts'

/** A float this close to an integer counts as an integer. */
const integerEpsilon = 1e-9

type TypeCheck = (value: Json, path: string, errors: Errors) => number

export function checkType(schema: JsonSchema, options: CheckOptions): TypeCheck {
  const own = schema.type ? [schema.type] : []
  const types = isIntOrString(schema) && !options.eitherUntyped ? ['integer', 'string'] : own
  const format = formatOf(schema, options)
  const nullable = schema.nullable === true
  const numeric = types.includes('integer') || types.includes('number')
  const refuse = (path: string, errors: Errors, wanted: string, found: string) => {
    const message = `${path} in body must be of type ${wanted}: ${goQuote(found)}`
    add(errors, { is: 'type', path, value: found, message })
  }
  return (value, path, errors) => {
    if (value === null) {
      if (types.length === 0 || types.includes('null') || nullable) return 1
      refuse(path, errors, types.join(','), 'null')
      return 0
    }
    if (types.length === 0 && format === '') return 0
    const found = typeOf(value)
    const fits =
      types.includes(found) ||
      (found === 'integer' && types.includes('number')) ||
      (found === 'number' && types.includes('integer') && isNearInteger(value as number))
    const textual = found === 'string' || found === 'array'
    if (!textual && format !== '' && !fits && goFormat(found) !== format) {
      refuse(path, errors, format, goFormat(found))
      return 1
    }
    if (!numeric && format !== '' && textual) return 2
    if (fits) return 2
    refuse(path, errors, types.join(','), found)
    return 1
  }
}

/** kube-apiserver's name for the format of a JSON value. */
const goFormat = (type: string): string =>
  type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''

/** 'integer' means that Go decodes the number as int64. Larger numbers are floats. */
export function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number'
    case 'bigint':
      return 'integer'
    default:
      return typeof value
  }
}

export function isNearInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  if (value === whole) return true
  // kube-apiserver converts the value to an unsigned integer, so a negative number never counts as
  // close.
  if (value < 0 || whole === 0) return false
  return Math.abs(value - whole) / (value + whole) < integerEpsilon
}
