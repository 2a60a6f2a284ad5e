/**
 * The schema of a resource as expressions see it. `apiVersion`, `kind` and the names in `metadata`
 * exist whatever the schema has. Nothing else of metadata exists.
 */
import { type JsonSchema, propertyOf } from '#schema/structural/json-schema.ts'

/** Longest name of an object. */
const nameLengthMax = 253

const text = (maxLength?: number): JsonSchema =>
  maxLength === undefined ? { type: 'string' } : { type: 'string', maxLength }

const isText = (schema: JsonSchema | undefined): boolean => schema?.type === 'string'

/** Whether the schema declares all of it by itself, with types that fit. */
function isComplete(schema: JsonSchema): boolean {
  const metadata = propertyOf(schema, 'metadata')
  return (
    isText(propertyOf(schema, 'kind')) &&
    isText(propertyOf(schema, 'apiVersion')) &&
    metadata?.type === 'object' &&
    isText(propertyOf(metadata, 'name')) &&
    isText(propertyOf(metadata, 'generateName'))
  )
}

/** Text with a limit that is at most `maxLength`. */
const capped = (declared: JsonSchema | undefined, maxLength: number): JsonSchema =>
  text(Math.min(declared?.maxLength ?? maxLength, maxLength))

/** `limited`: names have a limit, so that rules that read them cost less. */
export function resourceSchema(schema: JsonSchema, limited: boolean): JsonSchema {
  if (isComplete(schema)) return schema
  const declared = propertyOf(schema, 'metadata')
  const name = declared && propertyOf(declared, 'name')
  const prefix = declared && propertyOf(declared, 'generateName')
  const metadata: JsonSchema = {
    type: 'object',
    properties: limited
      ? // A generated name has at least one character more than its prefix.
        { name: capped(name, nameLengthMax), generateName: capped(prefix, nameLengthMax - 1) }
      : { name: text(), generateName: text() },
  }
  const properties = { ...schema.properties, kind: text(), apiVersion: text(), metadata }
  return { ...schema, properties }
}
