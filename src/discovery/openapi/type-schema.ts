/**
 * OpenAPI schemas of types from the type graph, with the extensions for patch and server-side
 * apply.
 */
import type { Json } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { Field, Scalar, Struct, Type } from '#schema/type.ts'
import type { SchemaForm } from './schema-form.ts'
import { type JsonObject, metaType } from './source.ts'

const intstr = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension'
const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions'

const plain: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  uint32: { type: 'integer', format: 'int64' },
  uint64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
}

/** Definitions of values that are not structs, by name. */
export function leafSchema(name: string, form: SchemaForm): JsonObject | undefined {
  const known = leaves[name]
  if (known === undefined) return undefined
  if (name === intstr && form.version === 3) {
    return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
  }
  if (name === quantity && form.version === 3)
    return { oneOf: [{ type: 'string' }, { type: 'number' }] }
  return known
}

const leaves: Readonly<Record<string, JsonObject>> = {
  [intstr]: { type: 'string', format: 'int-or-string' },
  [quantity]: { type: 'string' },
  [rawExtension]: { type: 'object' },
  [metaType('Time')]: { type: 'string', format: 'date-time' },
  [metaType('MicroTime')]: { type: 'string', format: 'date-time' },
  [metaType('Duration')]: { type: 'string' },
  [metaType('FieldsV1')]: { type: 'object' },
  [metaType('Fields')]: { type: 'object' },
  [`${apiextensions}.v1.JSON`]: {},
  [`${apiextensions}.v1beta1.JSON`]: {},
}

const leafOfScalar: Readonly<Record<string, string>> = {
  time: metaType('Time'),
  microTime: metaType('MicroTime'),
  duration: metaType('Duration'),
  quantity,
  intOrString: intstr,
}

const leafOfAny: Readonly<Record<string, string>> = {
  'runtime.RawExtension': rawExtension,
  'v1.FieldsV1': metaType('FieldsV1'),
  'v1.Fields': metaType('Fields'),
  'v1.JSON': `${apiextensions}.v1.JSON`,
  'v1beta1.JSON': `${apiextensions}.v1beta1.JSON`,
}

const leafOf = (type: Scalar): string | undefined =>
  type.scalar === 'any' ? leafOfAny[type.named ?? ''] : leafOfScalar[type.scalar]

/**
 * `needs` receives the name of every definition that a schema refers to. `describe` returns the
 * description of a field, if it has one.
 */
export interface SchemaContext {
  readonly form: SchemaForm
  readonly needs: (name: string) => void
  readonly describe: (field: string) => string | undefined
  /** Whether enum fields list their values. */
  readonly enums: boolean
  /** Absent in OpenAPI v2, which declares no defaults. */
  readonly defaults?: DeclaredDefaults
}

/** Where OpenAPI v3 declares a zero value, beside fields that are always written. */
interface DeclaredDefaults {
  /** For items of lists and values of maps. */
  readonly ofElements: boolean
  /** For times, quantities and other values with a text form of their own. */
  readonly ofLeaves: boolean
}

const declaresElements = change('OpenAPI v3 declares defaults of items and of values of maps', {
  since: 24,
  until: 36,
})
const declaresLeaves = change('OpenAPI v3 declares defaults of times and quantities', {
  since: 24,
  until: 28,
})

export const declaredDefaults = (release: Release): DeclaredDefaults => ({
  ofElements: release.has(declaresElements),
  ofLeaves: release.has(declaresLeaves),
})

export function structSchema(struct: Struct, context: SchemaContext): JsonObject {
  if (struct.union) return {}
  const schema: JsonObject = { type: 'object' }
  const names = [...struct.byName.keys()].sort()
  if (names.length > 0) {
    const properties: JsonObject = {}
    for (const name of names) {
      const field = struct.byName.get(name) as Field
      properties[name] = fieldSchema(field, context)
    }
    schema.properties = properties
  }
  const required = [...struct.byName.values()].filter((field) => field.required)
  if (required.length > 0) schema.required = required.map(({ name }) => name)
  if (struct.atomic) schema['x-kubernetes-map-type'] = 'atomic'
  else if (struct.granular) schema['x-kubernetes-map-type'] = 'granular'
  if (struct.discriminator !== undefined) {
    schema['x-kubernetes-unions'] = [discriminatedUnion(struct, struct.discriminator)]
  }
  return schema
}

/** An empty discriminator: no field says which member is set. */
function discriminatedUnion(struct: Struct, discriminator: string): JsonObject {
  const members: JsonObject = {}
  for (const name of [...struct.byName.keys()].sort()) {
    if (name !== discriminator) members[name] = name.charAt(0).toUpperCase() + name.slice(1)
  }
  return { ...(discriminator && { discriminator }), 'fields-to-discriminateBy': members }
}

function fieldSchema(field: Field, context: SchemaContext): JsonObject {
  const more: JsonObject = {}
  const description = context.describe(field.name)
  if (description !== undefined) more.description = description
  const { defaults } = context
  const implied = defaults && (field.default ?? zeroDefault(field, defaults))
  if (implied !== undefined) more.default = implied
  const { patchStrategy, patchMergeKey, listType, granular } = field
  if (patchStrategy !== undefined) more['x-kubernetes-patch-strategy'] = patchStrategy
  if (patchMergeKey !== undefined) more['x-kubernetes-patch-merge-key'] = patchMergeKey
  if (listType !== undefined) more['x-kubernetes-list-type'] = listType
  if (granular) more['x-kubernetes-map-type'] = 'granular'
  return typeSchema(field.type, context, more)
}

/**
 * The OpenAPI default of fields that are always written: structs, and plain values without
 * omitempty.
 */
function zeroDefault(field: Field, defaults: DeclaredDefaults): Json | undefined {
  const { type, pointer, omitEmpty, zeroUndeclared } = field
  if (pointer || zeroUndeclared) return undefined
  const isPlain = type.is === 'scalar' && leafOf(type) === undefined
  return isPlain && omitEmpty ? undefined : zeroOf(type, defaults)
}

function zeroOf(type: Type, { ofLeaves }: DeclaredDefaults): Json | undefined {
  if (type.is === 'struct') return type.union && !ofLeaves ? undefined : {}
  if (type.is !== 'scalar') return undefined
  if (leafOf(type) === undefined) return zeros[type.scalar]
  return ofLeaves ? {} : undefined
}

const zeros: Readonly<Record<string, Json>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  uint64: 0,
  float64: 0,
}

function typeSchema(type: Type, context: SchemaContext, more: JsonObject = {}): JsonObject {
  if (type.is === 'struct') return reference(type.name, context, more)
  if (type.is === 'untyped') return more
  if (type.is === 'map') {
    const schema = {
      ...more,
      type: 'object',
      additionalProperties: elementSchema(type.values, context),
    }
    return type.atomic ? { ...schema, 'x-kubernetes-map-type': 'atomic' } : schema
  }
  if (type.is === 'list') {
    const schema: JsonObject = { ...more, type: 'array', items: elementSchema(type.items, context) }
    if (type.declared && type.mapKeys.length > 0) {
      schema['x-kubernetes-list-map-keys'] = [...type.mapKeys]
    }
    return schema
  }
  const leaf = leafOf(type)
  if (leaf !== undefined) return reference(leaf, context, more)
  const values = context.enums ? [...(type.values ?? [])].sort() : []
  const listed = values.length > 0 && { enum: values }
  return { ...more, ...(plain[type.scalar] ?? { type: 'object' }), ...listed }
}

function elementSchema(type: Type, context: SchemaContext): JsonObject {
  const { defaults } = context
  const zero = defaults?.ofElements ? zeroOf(type, defaults) : undefined
  return typeSchema(type, context, zero === undefined ? {} : { default: zero })
}

function reference(name: string, context: SchemaContext, more: JsonObject): JsonObject {
  context.needs(name)
  return context.form.refer(name, more)
}
