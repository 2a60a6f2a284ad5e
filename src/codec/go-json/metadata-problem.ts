/** What the original's JSON decoder says of metadata that is none, wherever an object stands inside another. */
import type { Json } from '#api/object-meta.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import { sortedCopy } from '#schema/structural/sorted-copy.ts'
import type { Type } from '#schema/type.ts'
import { readGoJson } from './decode.ts'

const text = scalar('string')

/** `name?`: behind a pointer in Go. */
const struct = (name: string, fields: Readonly<Record<string, Type>>) =>
  structOf(
    `meta.v1.${name}`,
    Object.entries(fields).map(([key, type], i) =>
      field(key.replace('?', ''), type, i + 1, key.endsWith('?') ? 'p' : ''),
    ),
  )

const ownerReference = struct('OwnerReference', {
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  'controller?': scalar('bool'),
  'blockOwnerDeletion?': scalar('bool'),
})

const managedFieldsEntry = struct('ManagedFieldsEntry', {
  manager: text,
  operation: text,
  apiVersion: text,
  'time?': scalar('time'),
  fieldsType: text,
  'fieldsV1?': { is: 'untyped' },
  subresource: text,
})

const objectMeta = struct('ObjectMeta', {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: scalar('int64'),
  creationTimestamp: scalar('time'),
  'deletionTimestamp?': scalar('time'),
  'deletionGracePeriodSeconds?': scalar('int64'),
  labels: mapOf(text),
  annotations: mapOf(text),
  ownerReferences: listOf(ownerReference),
  finalizers: listOf(text),
  clusterName: text,
  managedFields: listOf(managedFieldsEntry),
})

/** Undefined where the original reads it as metadata. */
export function metadataProblem(metadata: Json): string | undefined {
  const read = readGoJson(Buffer.from(JSON.stringify(sortedCopy(metadata))), objectMeta)
  return 'fault' in read ? read.fault : undefined
}
