/** Finds the first invalid kind, apiVersion or metadata of an embedded object, and its path. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import {
  isEmbedded,
  isMetaField,
  itemsOf,
  type JsonSchema,
  propertyOf,
  valuesOf,
} from './json-schema.ts'
import { isUselessFor } from './prune.ts'

/** Returns the error in the metadata of an embedded object. Undefined if there is none. */
export type MetadataProblem = (metadata: Json) => string | undefined

export function coerceError(
  schema: JsonSchema | undefined,
  value: Json,
  path: FieldPath,
  metadataProblem: MetadataProblem,
): FieldError | undefined {
  if (schema === undefined || value === null || typeof value !== 'object') return undefined
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    for (const [i, item] of value.entries()) {
      const error = coerceError(items, item, path.index(i), metadataProblem)
      if (error !== undefined) return error
    }
    return undefined
  }
  for (const key of Object.keys(value)) {
    const given = value[key]
    const property = propertyOf(schema, key)
    const inner = property ?? valuesOf(schema)
    if (given === null && isUselessFor(inner)) continue
    if (isEmbedded(schema) && isMetaField(key)) {
      const error = metaError(key, given, path.child(key), metadataProblem)
      if (error !== undefined) return error
    }
    const at = property === undefined ? path.key(key) : path.child(key)
    const error = coerceError(inner, given, at, metadataProblem)
    if (error !== undefined) return error
  }
  return undefined
}

function metaError(
  key: string,
  value: Json,
  path: FieldPath,
  metadataProblem: MetadataProblem,
): FieldError | undefined {
  if (key !== 'metadata') {
    return typeof value === 'string' ? undefined : invalid(path, value, 'must be a string')
  }
  const problem = metadataProblem(value)
  return problem === undefined ? undefined : invalid(path, value, problem)
}
