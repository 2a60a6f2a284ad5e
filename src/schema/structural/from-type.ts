/**
 * The schema of a built-in type without references, for CEL expressions. Quantities and arbitrary
 * JSON have no type in OpenAPI. A recursive type becomes an object without fields.
 *
 *   { name: string, replicas: int32, strategy: { maxSurge: intOrString } }
 *     → { type: object, properties: { name: { type: string }, … } }
 */
import type { ScalarName, Struct, Type } from '#schema/type.ts'
import type { JsonSchema } from './json-schema.ts'

const scalars: Readonly<Record<ScalarName, JsonSchema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer' },
  int64: { type: 'integer' },
  uint32: { type: 'integer' },
  uint64: { type: 'integer' },
  float64: { type: 'number' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  quantity: {},
  intOrString: { 'x-kubernetes-int-or-string': true },
  any: { type: 'object' },
}
/** Go types that hold any JSON value, not only objects. */
const anyJson: ReadonlySet<string> = new Set(['v1.JSON', 'v1beta1.JSON'])

export const schemaOfType = (type: Type): JsonSchema => schemaOf(type, new Set())

/** `outer`: the types around this one. */
function schemaOf(type: Type, outer: Set<Struct>): JsonSchema {
  switch (type.is) {
    case 'untyped':
      return {}
    case 'scalar':
      return type.scalar === 'any' && anyJson.has(type.named ?? '') ? {} : scalars[type.scalar]
    case 'list':
      return { type: 'array', items: schemaOf(type.items, outer) }
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(type.values, outer) }
    case 'struct':
      return structSchema(type, outer)
  }
}

function structSchema(struct: Struct, outer: Set<Struct>): JsonSchema {
  if (struct.union) return {}
  if (outer.has(struct)) return { type: 'object' }
  outer.add(struct)
  const properties = Object.fromEntries(
    [...struct.byName].map(([name, field]) => [name, schemaOf(field.type, outer)]),
  )
  outer.delete(struct)
  return { type: 'object', properties }
}
