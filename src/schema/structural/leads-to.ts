/**
 * Whether a schema contains, at any depth, a schema that a caller looks for. The result is cached
 * per schema; for most schemas it is false.
 */
import { itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.ts'

export function leadsTo(isOne: (schema: JsonSchema) => boolean): (schema: JsonSchema) => boolean {
  const known = new WeakMap<JsonSchema, boolean>()
  const leads = (schema: JsonSchema): boolean => {
    const before = known.get(schema)
    if (before !== undefined) return before
    const properties = propertiesOf(schema).map(([, property]) => property)
    const inside = [...properties, itemsOf(schema), valuesOf(schema)]
    const found = isOne(schema) || inside.some((one) => one !== undefined && leads(one))
    known.set(schema, found)
    return found
  }
  return leads
}
