/** Checks which keywords a definition's schema may contain, before its structure is validated. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import {
  hasDefault,
  isEmbedded,
  isMetaField,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  mapTypeOf,
  propertiesOf,
  propertyOf,
  valuesOf,
} from '#schema/structural/json-schema.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { releaseOf } from '#api/releases/change.ts'
import { isCorrelatable } from '#kinds/custom/rules/rule-tree.ts'
import { itemsValue, stringsValue } from './go-values.ts'
import { RulePlace } from './rule-place.ts'
import { checkRuleFields, type RuleChecks } from './validation-rules.ts'

export interface SchemaRules {
  readonly release: number
  /** Checks of validation rules; absent where no expression can be compiled. */
  readonly ruleChecks?: RuleChecks
  /** Undefined: defaults are allowed; else why they are not. */
  readonly noDefaults: string | undefined
  readonly validTypes: boolean
  readonly atomicSets: boolean
  readonly keyRules: boolean
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

interface Place extends SchemaRules {
  readonly root: boolean
  readonly insideMeta: boolean
  /** The schema as its validation rules see it; undefined where rules are not compiled. */
  readonly rulePlace: RulePlace | undefined
  /** The outermost parent schema whose values cannot be correlated with old ones. */
  readonly uncorrelated: FieldPath | undefined
}

export const checkSchema = (
  schema: JsonSchema,
  path: FieldPath,
  rules: SchemaRules,
): FieldError[] =>
  check(schema, path, {
    ...rules,
    root: true,
    insideMeta: false,
    rulePlace: rules.ruleChecks && new RulePlace(schema, releaseOf(rules.release)),
    uncorrelated: undefined,
  })

function check(schema: JsonSchema, path: FieldPath, place: Place): FieldError[] {
  const errors = checkStandard(schema, path, place)
  if (schema.uniqueItems === true) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbidden(path.child('uniqueItems'), detail))
  }
  errors.push(...checkInside(schema, path, place))
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const at = path.child('x-kubernetes-preserve-unknown-fields')
    errors.push(invalid(at, false, 'must be true or undefined'))
  }
  errors.push(...checkMapType(schema, path), ...checkListType(schema, path, place.atomicSets))
  if (listTypeOf(schema) === 'map') errors.push(...checkListMap(schema, path))
  if (place.keyRules) errors.push(...checkKeys(schema, path))
  errors.push(...checkRuleFields(schema, path, releaseOf(place.release)))
  // A wrong schema has no types, so that its expressions would fail for reasons that are none of
  // their own.
  if (errors.length === 0 && place.rulePlace !== undefined)
    place.ruleChecks?.check(place.rulePlace, path, place.uncorrelated)
  return errors
}

function checkStandard(schema: JsonSchema, path: FieldPath, place: Place): FieldError[] {
  const errors: FieldError[] = []
  const { type = '' } = schema
  if (place.validTypes && type !== '' && !types.includes(type)) {
    errors.push(notSupported(path.child('type'), type, types))
  }
  if (hasDefault(schema) && place.noDefaults !== undefined) {
    errors.push(forbidden(path.child('default'), `must not be set ${place.noDefaults}`.trim()))
  }
  const refuse = (there: boolean, name: string, detail = `${name} is not supported`) => {
    if (there) errors.push(forbidden(path.child(name), detail))
  }
  const some = (map: object | undefined) => Object.keys(map ?? {}).length > 0
  refuse(Boolean(schema.id), 'id')
  refuse(schema.additionalItems !== undefined, 'additionalItems')
  refuse(some(schema.patternProperties), 'patternProperties')
  refuse(some(schema.definitions), 'definitions')
  refuse(
    schema.dependencies !== undefined || wasWrittenEmpty(schema, 'dependencies'),
    'dependencies',
  )
  refuse(schema.$ref !== undefined, '$ref')
  refuse(type === 'null', 'type', 'type cannot be set to null, use nullable as an alternative')
  const list = Array.isArray(schema.items) && schema.items.length > 0
  refuse(list, 'items', 'items must be a schema object and not an array')
  const nested = place.insideMeta && isEmbedded(schema)
  refuse(nested, 'x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  return errors
}

/** Every schema in this one. */
function checkInside(schema: JsonSchema, path: FieldPath, place: Place): FieldError[] {
  const errors: FieldError[] = []
  const inner: Place = { ...place, root: false, rulePlace: undefined }
  const { rulePlace } = place
  const { additionalProperties } = schema
  if (additionalProperties !== undefined && additionalProperties !== null) {
    const at = path.child('additionalProperties')
    if (propertiesOf(schema).length > 0 && additionalProperties !== true) {
      errors.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'))
    }
    const noDefaults = 'inside additionalProperties applying to object metadata'
    const values = valuesOf(schema)
    if (values !== undefined) {
      const there = { ...inner, rulePlace: rulePlace?.elements(values) }
      errors.push(...check(values, at, place.insideMeta ? { ...there, noDefaults } : there))
    }
  }
  for (const [name, one] of propertiesOf(schema).sort(([a], [b]) => byCodePoint(a, b))) {
    const meta = (place.root || isEmbedded(schema)) && isMetaField(name)
    const there: Place = {
      ...inner,
      insideMeta: place.insideMeta || meta,
      noDefaults: meta && place.root ? `in top-level ${name}` : place.noDefaults,
      rulePlace: rulePlace?.field(name, one),
      uncorrelated: place.uncorrelated ?? (isCorrelatable(schema) ? undefined : path),
    }
    errors.push(...check(one, path.child('properties').key(name), there))
  }
  if (schema.not !== undefined) errors.push(...check(schema.not, path.child('not'), inner))
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, one] of (schema[junctor] ?? []).entries()) {
      errors.push(...check(one, path.child(junctor).index(i), inner))
    }
  }
  for (const [name, one] of Object.entries(schema.definitions ?? {})) {
    errors.push(...check(one, path.child('definitions').key(name), inner))
  }
  const items = itemsOf(schema)
  if (items !== undefined) {
    const there: Place = {
      ...inner,
      rulePlace: rulePlace?.elements(items),
      // Only elements of a list of type map are found again after an update.
      uncorrelated: place.uncorrelated ?? (listTypeOf(schema) === 'map' ? undefined : path),
    }
    errors.push(...check(items, path.child('items'), there))
  }
  if (Array.isArray(schema.items)) {
    for (const [i, one] of schema.items.entries()) {
      errors.push(...check(one, path.child('items').index(i), inner))
    }
  }
  for (const [name, one] of Object.entries(schema.dependencies ?? {})) {
    if (Array.isArray(one) || one === null) continue
    errors.push(...check(one as JsonSchema, path.child('dependencies').key(name), inner))
  }
  return errors
}

const mustBe = (
  schema: JsonSchema,
  path: FieldPath,
  type: string,
  because: string,
): FieldError[] => {
  if (schema.type === type) return []
  const at = path.child('type')
  const detail = `must be ${type} if ${because} is specified`
  return schema.type ? [invalid(at, schema.type, detail)] : [required(at, detail)]
}

function checkMapType(schema: JsonSchema, path: FieldPath): FieldError[] {
  const mapType = mapTypeOf(schema)
  if (mapType === undefined) return []
  const errors = mustBe(schema, path, 'object', 'x-kubernetes-map-type')
  const known = ['atomic', 'granular']
  if (!known.includes(mapType)) {
    errors.push(notSupported(path.child('x-kubernetes-map-type'), mapType, known))
  }
  return errors
}

function checkListType(schema: JsonSchema, path: FieldPath, atomicSets: boolean): FieldError[] {
  const listType = listTypeOf(schema)
  const errors: FieldError[] = []
  const at = path.child('x-kubernetes-list-type')
  if (listType !== undefined) {
    const wrong = mustBe(schema, path, 'array', 'x-kubernetes-list-type')
    if (wrong.length > 0) errors.push(...wrong)
    else if (atomicSets && listType === 'set') errors.push(...checkSetItems(schema, path))
    const known = ['atomic', 'set', 'map']
    if (!known.includes(listType)) errors.push(notSupported(at, listType, known))
  }
  if (mapKeysOf(schema).length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail))
  }
  return errors
}

/** kube-apiserver shows the list type of the items in the message about their map type. */
function checkSetItems(schema: JsonSchema, path: FieldPath): FieldError[] {
  const items = itemsOf(schema)
  if (items === undefined) return []
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = listTypeOf(items)
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(path.child('items').child('x-kubernetes-list-type'), listType, detail)]
  }
  if (items.type === 'object' && mapTypeOf(items) !== 'atomic') {
    return [invalid(path.child('items').child('x-kubernetes-map-type'), listType ?? null, detail)]
  }
  return []
}

function checkListMap(schema: JsonSchema, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const keys = mapKeysOf(schema)
  const keysPath = path.child('x-kubernetes-list-map-keys')
  const itemsPath = path.child('items')
  if (keys.length === 0) {
    errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'))
  }
  const items = itemsOf(schema)
  if (items === undefined) {
    if (schema.items === undefined || schema.items === null) {
      errors.push(required(itemsPath, 'must have a schema if x-kubernetes-list-type is map'))
    } else {
      const detail = 'must only have a single schema if x-kubernetes-list-type is map'
      errors.push(invalid(itemsPath, itemsValue(schema.items as object[]), detail))
    }
    return errors
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    return [...errors, invalid(itemsPath.child('type'), items.type ?? '', detail)]
  }
  const seen = new Set<string>()
  const shown = stringsValue(keys)
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (property === undefined) {
      errors.push(invalid(keysPath, shown, 'entries must all be names of item properties'))
    } else if (property.type === 'array' || property.type === 'object') {
      const at = itemsPath.child('properties').key(key).child('type')
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalid(at, items.type, detail))
    }
    if (seen.has(key)) {
      errors.push(invalid(keysPath, shown, 'must not contain duplicate entries'))
    }
    seen.add(key)
  }
  return errors
}

/** Items of sets and maps are never null, and the keys of maps are always there. */
export function checkKeys(schema: JsonSchema, path: FieldPath): FieldError[] {
  const items = itemsOf(schema)
  const listType = listTypeOf(schema)
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return []
  const errors: FieldError[] = []
  const itemsPath = path.child('items')
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    errors.push(forbidden(itemsPath.child('nullable'), detail))
  }
  if (listType === 'set') return errors
  const why = 'this property is in x-kubernetes-list-map-keys, so it'
  for (const key of mapKeysOf(schema)) {
    const property = propertyOf(items, key)
    if (property === undefined) continue
    const at = itemsPath.child('properties').key(key)
    if (!(items.required ?? []).includes(key) && !hasDefault(property)) {
      errors.push(
        required(at.child('default'), `${why} must have a default or be a required property`),
      )
    }
    if (property.nullable === true)
      errors.push(forbidden(at.child('nullable'), `${why} cannot be nullable`))
  }
  return errors
}
