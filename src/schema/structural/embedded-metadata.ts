/**
 * Normalises the metadata of embedded objects like kube-apiserver: unknown and empty fields are
 * removed. The metadata must be valid; canonical metadata stays unchanged.
 */
import type { Json } from '#api/object-meta.ts'
import { canonicalTimestamp } from '#api/timestamp.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import type { Field, Struct, Type } from '#schema/type.ts'
import { setKey } from '#schema/user-key.ts'
import { isEmbedded, itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts'
import { embeddedMeta } from './metadata-type.ts'
import { sortedCopy } from './sorted-copy.ts'

/** Changes the value in place, wherever the schema has embedded objects. */
export function tidyMetadata(schema: JsonSchema | undefined, value: Json): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    for (const item of value) tidyMetadata(itemsOf(schema), item)
    return
  }
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    tidyMetadata(propertyOf(schema, key) ?? valuesOf(schema), value[key])
  }
  if (!isEmbedded(schema) || !Object.hasOwn(value, 'metadata')) return
  const tidy = writtenStruct(embeddedMeta, value.metadata ?? {})
  if (JSON.stringify(tidy) !== JSON.stringify(value.metadata)) {
    value.metadata = sortedCopy(tidy)
  }
}

/** The canonical form of a value; undefined if the field is omitted. */
function written(type: Type, value: Json, field?: Field): Json | undefined {
  switch (type.is) {
    case 'struct':
      return writtenStruct(type, value)
    case 'list': {
      const items = Array.isArray(value) ? value : []
      return items.length > 0 ? items.map((item) => written(type.items, item) ?? null) : undefined
    }
    case 'map':
      return writtenTexts(value)
    case 'untyped':
      return value ?? undefined
    case 'scalar':
      if (type.scalar === 'time') return writtenTime(value)
      if (field?.pointer) return value ?? undefined
      return field?.omitEmpty ? value || undefined : (value ?? '')
  }
}

const writtenTime = (value: Json): Json | undefined =>
  typeof value === 'string' ? (canonicalTimestamp(value) ?? undefined) : undefined

function writtenTexts(value: Json): Json | undefined {
  if (!isObject(value) || Object.keys(value).length === 0) return undefined
  const made: JsonObject = {}
  for (const key of Object.keys(value)) setKey(made, key, value[key] ?? '')
  return made
}

/** Writes the given fields in their order, then the fields that are always written. */
function writtenStruct({ byName }: Struct, value: Json): JsonObject {
  const given = isObject(value) ? value : {}
  const made: JsonObject = {}
  const missing = [...byName.keys()].filter((key) => !Object.hasOwn(given, key))
  for (const key of [...Object.keys(given), ...missing]) {
    const field = byName.get(key)
    const one = field && written(field.type, given[key] ?? null, field)
    if (one !== undefined) made[key] = one
  }
  return made
}
