/**
 * Checks values from tests, in TypeScript or by HTTP, against the part of JSON Schema that the
 * control API needs. The OpenAPI document shows the same schemas.
 */

export interface ValueSchema {
  readonly description?: string
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean'
  readonly format?: 'date-time' | 'uri'
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
  readonly items?: ValueSchema
  readonly oneOf?: readonly ValueSchema[]
}

const typeNames = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
}

const shown = (value: unknown) => JSON.stringify(value) ?? String(value)

/** Throws a TypeError that names the first wrong value by its path. */
export function requireValid(schema: ValueSchema, value: unknown, path: string): void {
  const problem = problemOf(schema, value, path)
  if (problem !== undefined) throw new TypeError(problem)
}

function problemOf(schema: ValueSchema, value: unknown, path: string): string | undefined {
  const { type, oneOf, items } = schema
  if (oneOf !== undefined) {
    const meant = oneOf.find((one) => one.type !== undefined && hasType(one.type, value))
    return meant === undefined ? wrongType(oneOf, value, path) : problemOf(meant, value, path)
  }
  if (type !== undefined && !hasType(type, value)) return wrongType([schema], value, path)
  if (Array.isArray(value) && items !== undefined)
    return first(value.entries(), ([i, item]) => problemOf(items, item, `${path}[${i}]`))
  if (type === 'object') return problemOfMembers(schema, value as object, path)
  return problemOfPlain(schema, value, path)
}

const wrongType = (schemas: readonly ValueSchema[], value: unknown, path: string) => {
  const wanted = schemas.map(({ type = 'object' }) => typeNames[type]).join(' or ')
  return `${path} must be ${wanted}, not ${shown(value)}`
}

function hasType(type: NonNullable<ValueSchema['type']>, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'number') return Number.isFinite(value)
  if (type !== 'object') return typeof value === type
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function problemOfMembers(schema: ValueSchema, value: object, path: string): string | undefined {
  const { properties = {}, required = [], additionalProperties } = schema
  const missing = required.find((member) => !Object.hasOwn(value, member))
  if (missing !== undefined) return `${path} needs ${missing}`
  return first(Object.entries(value), ([member, one]) => {
    const known = Object.hasOwn(properties, member) ? properties[member] : undefined
    // In TypeScript, an undefined member is an absent one.
    if (known !== undefined)
      return one === undefined ? undefined : problemOf(known, one, `${path}.${member}`)
    if (additionalProperties !== false) return undefined
    const accepted = Object.keys(properties).join(', ')
    return `${path}.${member} is unknown; ${path} accepts ${accepted}`
  })
}

function problemOfPlain(schema: ValueSchema, value: unknown, path: string): string | undefined {
  const { enum: accepted, minimum = -Infinity, maximum = Infinity, format } = schema
  if (accepted !== undefined && !accepted.includes(value as string))
    return `${path} must be one of ${accepted.join(', ')}, not ${shown(value)}`
  if (typeof value === 'number' && (value < minimum || value > maximum)) {
    const limit = value < minimum ? `at least ${minimum}` : `at most ${maximum}`
    return `${path} must be ${limit}, not ${shown(value)}`
  }
  if (format === 'uri' && !URL.canParse(value as string))
    return `${path} must be a URL, not ${shown(value)}`
  if (format === 'date-time' && Number.isNaN(Date.parse(value as string)))
    return `${path} must be a time, not ${shown(value)}`
  return undefined
}

function first<T>(
  values: Iterable<T>,
  problem: (value: T) => string | undefined,
): string | undefined {
  for (const value of values) {
    const found = problem(value)
    if (found !== undefined) return found
  }
  return undefined
}
