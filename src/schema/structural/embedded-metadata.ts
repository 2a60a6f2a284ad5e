/**
 * The metadata of embedded objects in the form the original writes it: fields that metadata does not have are gone, and
 * so are those that say nothing. It is only given metadata that can be read, and changes nothing that is in that form.
 */
import type { Json } from '#api/object-meta.ts'
import { canonicalTimestamp } from '#api/timestamp.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import { setKey } from '#schema/user-key.ts'
import { isEmbedded, itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts'
import { sortedCopy } from './sorted-copy.ts'

/** A value as it is written; undefined where it is left out. */
type Write = (value: Json) => Json | undefined

/** In place, wherever the schema has embedded objects. */
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
  const tidy = objectMeta(value.metadata ?? {}) as JsonObject
  if (JSON.stringify(tidy) !== JSON.stringify(value.metadata)) {
    value.metadata = sortedCopy(tidy)
  }
}

const text: Write = (value) => value || undefined
const always: Write = (value) => value ?? ''
const present: Write = (value) => value ?? undefined
const time: Write = (value) =>
  typeof value === 'string' ? (canonicalTimestamp(value) ?? undefined) : undefined

const texts: Write = (value) => {
  if (!isObject(value) || Object.keys(value).length === 0) return undefined
  const made: JsonObject = {}
  for (const key of Object.keys(value)) setKey(made, key, value[key] ?? '')
  return made
}

const listOf =
  (write: Write): Write =>
  (value) =>
    Array.isArray(value) && value.length > 0 ? value.map((item) => write(item) ?? null) : undefined

/** In the order of the fields that are given, then those that are always there. */
const struct =
  (fields: Readonly<Record<string, Write>>): Write =>
  (value) => {
    const given = isObject(value) ? value : {}
    const made: JsonObject = {}
    const missing = Object.keys(fields).filter((key) => !Object.hasOwn(given, key))
    for (const key of [...Object.keys(given), ...missing]) {
      if (!Object.hasOwn(fields, key)) continue
      const written = fields[key](given[key] ?? null)
      if (written !== undefined) made[key] = written
    }
    return made
  }

const objectMeta = struct({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: text,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: present,
  labels: texts,
  annotations: texts,
  ownerReferences: listOf(
    struct({
      apiVersion: always,
      kind: always,
      name: always,
      uid: always,
      controller: present,
      blockOwnerDeletion: present,
    }),
  ),
  finalizers: listOf(always),
  clusterName: text,
  managedFields: listOf(
    struct({
      manager: text,
      operation: text,
      apiVersion: text,
      time,
      fieldsType: text,
      fieldsV1: present,
      subresource: text,
    }),
  ),
})
