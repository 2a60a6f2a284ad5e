/**
 * The type of the metadata of an embedded object. It is written by hand, because definitions are
 * checked before the type tables are loaded, in all releases alike.
 */
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'

const text = scalar('string')

/**
 * A name ends with `?` if the field is a pointer in Go, and with `!` if it is written even when
 * empty.
 */
const struct = (name: string, fields: Readonly<Record<string, Type>>) =>
  structOf(
    `meta.v1.${name}`,
    Object.entries(fields).map(([key, type], i) => {
      const flags = key.endsWith('!') ? '' : key.endsWith('?') ? 'op' : 'o'
      return field(key.replace(/[!?]$/, ''), type, i + 1, flags)
    }),
  )

const ownerReference = struct('OwnerReference', {
  'apiVersion!': text,
  'kind!': text,
  'name!': text,
  'uid!': text,
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

export const embeddedMeta = struct('ObjectMeta', {
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
