/** The OpenAPI v3 schema of a kind with all references resolved. */
import { schemaOfType } from '#schema/structural/from-type.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { publishedSchema } from './custom/custom-kind.ts'
import type { Kind } from './kind.ts'

/** Custom kinds have the schema of their definition, with the fields that every object has. */
export function servedSchema(kind: Kind): JsonSchema {
  const whole = schemaOfType(kind.type)
  if (kind.origin === 'built-in') return whole
  const published = publishedSchema(kind)
  if (published === undefined) return { type: 'object' }
  const text: JsonSchema = { type: 'string' }
  const metadata = whole.properties?.metadata ?? { type: 'object' }
  const properties = { ...published.properties, apiVersion: text, kind: text, metadata }
  return { ...published, properties }
}
