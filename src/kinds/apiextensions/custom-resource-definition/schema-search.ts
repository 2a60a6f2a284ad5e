/** Searches the schemas of a definition recursively. */
import type { Loose } from '#api/object-meta.ts'
import { itemsOf, type JsonSchema, propertiesOf, valuesOf } from '#schema/structural/json-schema.ts'

function anySchema(schema: JsonSchema, is: (schema: JsonSchema) => boolean): boolean {
  if (is(schema)) return true
  const { not, allOf = [], anyOf = [], oneOf = [], items, additionalItems } = schema
  const single = [itemsOf(schema), not, valuesOf(schema), additionalItems]
  const inside: unknown[] = [
    ...single,
    ...(Array.isArray(items) ? items : []),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...propertiesOf(schema).map(([, one]) => one),
    ...Object.values(schema.patternProperties ?? {}),
    ...Object.values(schema.definitions ?? {}),
    ...Object.values(schema.dependencies ?? {}),
  ]
  return inside.some(
    (one) =>
      typeof one === 'object' &&
      one !== null &&
      !Array.isArray(one) &&
      anySchema(one as JsonSchema, is),
  )
}

/** The schemas of a spec in the beta's form: one for all versions, or each its own. */
export function schemasOf(spec: Loose): JsonSchema[] {
  const all = [spec.validation, ...(spec.versions ?? []).map((one: Loose) => one.schema)]
  return all.map((one) => one?.openAPIV3Schema).filter((one) => one !== undefined && one !== null)
}

export const specHas = (spec: Loose, is: (schema: JsonSchema) => boolean): boolean =>
  schemasOf(spec).some((schema) => anySchema(schema, is))
