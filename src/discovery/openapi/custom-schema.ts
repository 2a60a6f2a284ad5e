/**
 * Makes the OpenAPI definition of a custom kind: its schema, with the fields that every object has.
 * OpenAPI v2 and its clients do not support all keywords; unsupported ones are removed.
 */
import type { Json } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { Kind } from '#kinds/kind.ts'
import { describeField } from './descriptions.ts'
import type { SchemaForm } from './schema-form.ts'
import { type JsonObject, metaType } from './source.ts'

/** Keywords that OpenAPI v2 does not have. */
const junctors = ['allOf', 'oneOf', 'anyOf', 'not'] as const
const preserve = 'x-kubernetes-preserve-unknown-fields'

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function customSchema(
  kind: Kind,
  given: JsonObject | undefined,
  form: SchemaForm,
): JsonObject {
  const head = headOf(kind, kind.kind)
  // If a schema has properties, kubectl rejects all other fields.
  if (given === undefined || (form.version === 2 && given[preserve] === true)) {
    return { type: 'object', ...head }
  }
  const schema = adapted(given, form)
  const properties = isObject(schema.properties) ? schema.properties : {}
  return { ...schema, properties: withMeta(properties, form), ...head }
}

const typesLists = change('OpenAPI says that a list of custom objects is an object', { since: 27 })

/** What kind a definition describes, and by which fields its objects can be selected. */
function headOf({ group, version, selectableFields = [] }: Kind, kind: string): JsonObject {
  const fields = selectableFields.map((fieldPath) => ({ fieldPath }))
  return {
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
    ...(fields.length > 0 && { 'x-kubernetes-selectable-fields': fields }),
  }
}

/** The definition of a list. `of` is the definition of its items. */
export function customListSchema(
  kind: Kind,
  of: string,
  form: SchemaForm,
  release: Release,
): JsonObject {
  const items = form.refer(of, {})
  return {
    description: `A list of ${kind.kind} objects.`,
    ...(release.has(typesLists) && { type: 'object' }),
    required: ['items'],
    properties: {
      apiVersion: { ...sentence('apiVersion'), type: 'string' },
      items: { ...sentence('items'), type: 'array', items },
      kind: { ...sentence('kind'), type: 'string' },
      metadata: form.refer(metaType('ListMeta'), {}),
    },
    ...headOf(kind, kind.listKind),
  }
}

const sentence = (field: string): JsonObject => {
  const description = describeField('', field, true)
  return description === undefined ? {} : { description }
}

const withMeta = (properties: JsonObject, form: SchemaForm): JsonObject => ({
  ...properties,
  apiVersion: { ...sentence('apiVersion'), type: 'string' },
  kind: { ...sentence('kind'), type: 'string' },
  metadata: form.refer(metaType('ObjectMeta'), sentence('metadata')),
})

/**
 * Adapts a schema to the OpenAPI version. Returns the schema itself if no change is needed, so most
 * schemas are not copied.
 */
function adapted(given: JsonObject, form: SchemaForm): JsonObject {
  const schema = withInner(form.version === 2 && isTooWide(given) ? narrowed(given) : given, form)
  const embedded = given['x-kubernetes-embedded-resource'] === true
  if (!embedded || (form.version === 2 && given[preserve] === true)) return schema
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return {
    ...schema,
    properties: withMeta(properties, form),
    required: [...new Set([...required, 'kind', 'apiVersion'])],
  }
}

/** The schemas inside it, adapted. */
function withInner(given: JsonObject, form: SchemaForm): JsonObject {
  const { properties, items, additionalProperties } = given
  const changed: JsonObject = {}
  if (isObject(properties)) {
    const mine = mapped(properties, (one) => adapted(one, form))
    if (mine !== properties) changed.properties = mine
  }
  if (isObject(items)) {
    const mine = adapted(items, form)
    if (mine !== items) changed.items = mine
  }
  if (isObject(additionalProperties)) {
    const mine = adapted(additionalProperties, form)
    if (mine !== additionalProperties) changed.additionalProperties = mine
  }
  for (const _ in changed) return { ...given, ...changed }
  return given
}

/**
 * Applies a function to every member. Returns the same object if nothing changes. Uses fromEntries,
 * because keys may be any text, including `__proto__`.
 */
function mapped(from: JsonObject, change: (one: JsonObject) => JsonObject): JsonObject {
  let changed: Map<string, JsonObject> | undefined
  for (const name of Object.keys(from)) {
    const one = from[name]
    const mine = isObject(one) ? change(one) : one
    if (mine === one) continue
    changed ??= new Map()
    changed.set(name, mine as JsonObject)
  }
  if (changed === undefined) return from
  return Object.fromEntries(
    Object.entries(from).map(([name, one]) => [name, changed.get(name) ?? one]),
  )
}

/** Whether the schema has keywords that OpenAPI v2 or its clients do not support. */
const isTooWide = (schema: JsonObject): boolean =>
  schema.allOf !== undefined ||
  schema.oneOf !== undefined ||
  schema.anyOf !== undefined ||
  schema.not !== undefined ||
  schema.default !== undefined ||
  schema.required !== undefined ||
  schema.nullable === true ||
  schema[preserve] === true ||
  (schema.type === 'array' && schema.items === undefined)

function narrowed(given: JsonObject): JsonObject {
  const schema = { ...given }
  for (const junctor of junctors) delete schema[junctor]
  delete schema.default
  if (Array.isArray(schema.required) && isObject(schema.properties)) {
    const { properties } = schema
    const kept = schema.required.filter((name) => {
      const property = Object.hasOwn(properties, String(name)) ? properties[String(name)] : null
      return !isObject(property) || property.nullable !== true
    })
    if (kept.length > 0) schema.required = kept
    else delete schema.required
  }
  if (schema.nullable === true) {
    for (const name of ['type', 'nullable', 'items', 'properties']) delete schema[name]
  }
  if (schema[preserve] === true) {
    delete schema.items
    delete schema.properties
    if (schema.type === 'object') delete schema.type
  }
  if (schema.type === 'array' && schema.items === undefined) delete schema.type
  return schema
}
