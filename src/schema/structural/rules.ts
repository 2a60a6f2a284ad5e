/**
 * Checks that a schema is structural. Every field is declared outside of anyOf and similar
 * junctors, every value has a type, and metadata is not specified further. Messages and paths are
 * kube-apiserver's. Errors are sorted by their text.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import { checkComplete } from './completeness.ts'
import {
  hasAdditional,
  hasDefault,
  isEmbedded,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  mapTypeOf,
  preserves,
  propertiesOf,
  propertyOf,
  rulesOf,
  valuesOf,
} from './json-schema.ts'
import { patternProblem } from './pattern.ts'

type Level = 'root' | 'item' | 'field'

/** Why a schema cannot be parsed as a structural schema. */
export function unsupported(schema: JsonSchema): string | undefined {
  const words = (name: string) => `OpenAPIV3Schema '${name}' is not supported`
  if (schema.id) return words('id')
  if (schema.$schema) return words('schema')
  if (schema.$ref) return words('$ref')
  for (const name of ['patternProperties', 'dependencies'] as const) {
    if (Object.keys(schema[name] ?? {}).length > 0) return words(name)
  }
  if (schema.additionalItems !== undefined) return words('additionalItems')
  if (Object.keys(schema.definitions ?? {}).length > 0) return words('definitions')
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  for (const inside of schemasInside(schema)) {
    const problem = unsupported(inside)
    if (problem !== undefined) return problem
  }
  return undefined
}

function schemasInside(schema: JsonSchema): JsonSchema[] {
  const { not, allOf = [], anyOf = [], oneOf = [] } = schema
  const single = [not, valuesOf(schema), itemsOf(schema)].filter((one) => one !== undefined)
  return [...single, ...allOf, ...anyOf, ...oneOf, ...propertiesOf(schema).map(([, one]) => one)]
}

export function checkStructural(schema: JsonSchema, path: FieldPath): FieldError[] {
  const errors = [...checkInvariants(schema, 'root', path), ...checkComplete(schema, path)]
  const text = ({ field, message }: FieldError) => `${field}: ${message}`
  return errors.sort((a, b) => byCodePoint(text(a), text(b)))
}

/** Whether a schema can be used for pruning and defaulting. */
export const isStructural = (schema: JsonSchema, path: FieldPath): boolean =>
  unsupported(schema) === undefined && checkStructural(schema, path).length === 0

function checkInvariants(schema: JsonSchema, level: Level, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const items = itemsOf(schema)
  if (schema.type === 'array' && items === undefined) {
    errors.push(required(path.child('items'), 'must be specified'))
  }
  if (items !== undefined) errors.push(...checkInvariants(items, 'item', path.child('items')))
  for (const [name, one] of propertiesOf(schema)) {
    errors.push(...checkInvariants(one, 'field', path.child('properties').key(name)))
  }
  if (hasAdditional(schema)) {
    const at = path.child('additionalProperties')
    if (level === 'root') errors.push(forbidden(at, 'must not be used at the root'))
    const values = valuesOf(schema)
    if (values !== undefined) errors.push(...checkInvariants(values, 'field', at))
  }
  errors.push(...checkExtensions(schema, path))
  const skips = {
    anyOf: isIntOrStringPair(schema.anyOf),
    allOf: isIntOrStringPair(schema.allOf?.[0]?.anyOf),
  }
  errors.push(...checkValues(schema, skips, path))
  errors.push(...checkTypeGiven(schema, level, path))
  errors.push(...checkMeta(schema, level, path))
  return errors
}

function checkExtensions(schema: JsonSchema, path: FieldPath): FieldError[] {
  if (!isIntOrString(schema)) return []
  const errors: FieldError[] = []
  const detail = 'must be false if x-kubernetes-int-or-string is true'
  for (const name of ['preserve-unknown-fields', 'embedded-resource']) {
    const key = `x-kubernetes-${name}` as keyof JsonSchema
    if (schema[key] === true) errors.push(invalid(path.child(key), true, detail))
  }
  return errors
}

/**
 * Whether the schemas are the pair that x-kubernetes-int-or-string allows: an integer, then a
 * string.
 */
function isIntOrStringPair(schemas: readonly JsonSchema[] | undefined): boolean {
  if (schemas?.length !== 2) return false
  return ['integer', 'string'].every((type, i) => {
    const keys = Object.keys(schemas[i]).filter(
      (key) => key !== 'externalDocs' && key !== 'example',
    )
    return schemas[i].type === type && keys.length === 1
  })
}

interface Skips {
  readonly anyOf: boolean
  /** The anyOf of the first of allOf. */
  readonly allOf: boolean
}

const skipNothing: Skips = { anyOf: false, allOf: false }

function checkValues(schema: JsonSchema, skips: Skips, path: FieldPath): FieldError[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema
  const errors: FieldError[] = []
  if (!skips.anyOf) {
    for (const [i, one] of anyOf.entries()) {
      errors.push(...checkNested(one, skipNothing, path.child('anyOf').index(i)))
    }
  }
  for (const [i, one] of allOf.entries()) {
    const inner = { anyOf: skips.allOf && i === 0, allOf: false }
    errors.push(...checkNested(one, inner, path.child('allOf').index(i)))
  }
  for (const [i, one] of oneOf.entries()) {
    errors.push(...checkNested(one, skipNothing, path.child('oneOf').index(i)))
  }
  if (not !== undefined) errors.push(...checkNested(not, skipNothing, path.child('not')))
  if (pattern) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${problem}`
      errors.push(invalid(path.child('pattern'), pattern, detail))
    }
  }
  return errors
}

/** Inside anyOf, oneOf, allOf and not, values may be restricted; nothing may be declared. */
function checkNested(schema: JsonSchema, skips: Skips, path: FieldPath): FieldError[] {
  const errors = checkValues(schema, skips, path)
  const items = itemsOf(schema)
  if (items !== undefined) errors.push(...checkNested(items, skipNothing, path.child('items')))
  for (const [name, one] of propertiesOf(schema)) {
    errors.push(...checkNested(one, skipNothing, path.child('properties').key(name)))
  }
  const refuse = (there: boolean, name: string, what: string) => {
    if (there) errors.push(forbidden(path.child(name), `must be ${what} to be structural`))
  }
  refuse(Boolean(schema.type), 'type', 'empty')
  refuse(hasAdditional(schema), 'additionalProperties', 'undefined')
  refuse(hasDefault(schema), 'default', 'undefined')
  refuse(Boolean(schema.title), 'title', 'empty')
  refuse(Boolean(schema.description), 'description', 'empty')
  refuse(schema.nullable === true, 'nullable', 'false')
  refuse(preserves(schema), 'x-kubernetes-preserve-unknown-fields', 'false')
  refuse(isEmbedded(schema), 'x-kubernetes-embedded-resource', 'false')
  refuse(isIntOrString(schema), 'x-kubernetes-int-or-string', 'false')
  refuse(mapKeysOf(schema).length > 0, 'x-kubernetes-list-map-keys', 'empty')
  refuse(listTypeOf(schema) !== undefined, 'x-kubernetes-list-type', 'undefined')
  refuse(mapTypeOf(schema) !== undefined, 'x-kubernetes-map-type', 'undefined')
  refuse(rulesOf(schema).length > 0, 'x-kubernetes-validations', 'empty')
  if (propertyOf(schema, 'metadata') !== undefined) {
    const at = path.child('properties').key('metadata')
    errors.push(forbidden(at, 'must not be specified in a nested context'))
  }
  return errors
}

const emptyTypeWords: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function checkTypeGiven(schema: JsonSchema, level: Level, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const type = schema.type ?? ''
  const at = path.child('type')
  if (isEmbedded(schema) && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(at, detail) : invalid(at, type, detail))
  } else if (type === '' && !isIntOrString(schema) && !preserves(schema)) {
    errors.push(required(at, emptyTypeWords[level]))
  }
  if (isEmbedded(schema) && hasAdditional(schema)) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(forbidden(path.child('additionalProperties'), detail))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(at, type, 'must be object at the root'))
  }
  return errors
}

function checkMeta(schema: JsonSchema, level: Level, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const embedded = isEmbedded(schema)
  if (level === 'root' || embedded) {
    for (const [name, type] of [
      ['kind', 'string'],
      ['apiVersion', 'string'],
      ['metadata', 'object'],
    ]) {
      const one = propertyOf(schema, name)
      if (one === undefined || one.type === type) continue
      const at = path.child('properties').key(name).child('type')
      errors.push(invalid(at, one.type ?? '', `must be ${type}`))
    }
  }
  const metadata = propertyOf(schema, 'metadata')
  if (level === 'root' && metadata !== undefined && saysMore(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(path.child('properties').key('metadata'), detail))
  }
  if (embedded && !preserves(schema) && propertiesOf(schema).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(path.child('properties'), detail))
  }
  return errors
}

const harmless = new Set(['type', 'default', 'externalDocs', 'example'])

/** Some fields distinguish an empty string from an absent one, others `false` from absent. */
const isZero = (key: string, value: unknown): boolean =>
  (value === false && key !== 'additionalProperties') ||
  (value === '' && !key.startsWith('x-kubernetes-'))

/** Metadata may only restrict `name` and `generateName`. */
function saysMore(metadata: JsonSchema): boolean {
  for (const [key, value] of Object.entries(metadata)) {
    if (harmless.has(key) || isZero(key, value)) continue
    if (key !== 'properties') return true
    if (Object.keys(value).some((name) => name !== 'name' && name !== 'generateName')) return true
  }
  return false
}
