/**
 * Reduces objects to their metadata: PartialObjectMetadata and its list, in both versions of
 * meta.k8s.io. Also makes the types by which protobuf encodes them. The metadata is shared with the
 * object, never copied.
 */
import type { Loose } from '#api/object-meta.ts'
import { field, listOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct, Type } from '#schema/type.ts'

export type MetaVersion = 'v1' | 'v1beta1'

export interface ListMetadata {
  readonly selfLink?: string
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export const metaApiVersion = (version: MetaVersion): string => `meta.k8s.io/${version}`

export const partialMetadata = (object: Loose, version: MetaVersion): Loose => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaApiVersion(version),
  metadata: object['metadata'],
})

/** As kube-apiserver, omits remainingItemCount and writes `items: null` for an empty list. */
export function partialMetadataList(
  objects: readonly Loose[],
  metadata: ListMetadata,
  version: MetaVersion,
): Loose {
  const { resourceVersion, continue: token } = metadata
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: metaApiVersion(version),
    metadata: {
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(token !== undefined && token !== '' && { continue: token }),
    },
    items: objects.length === 0 ? null : objects.map((object) => partialMetadata(object, version)),
  }
}

const string = scalar('string')
const listMeta = structOf('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', [
  field('selfLink', string, 1, 'o'),
  field('resourceVersion', string, 2, 'o'),
  field('continue', string, 3, 'o'),
  field('remainingItemCount', scalar('int64'), 4, 'op'),
])

const made = new WeakMap<Type, Map<string, Struct>>()

/** The type of a PartialObjectMetadata or its list, given the type of ObjectMeta. */
export function partialMetadataType(
  objectMeta: Type,
  kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList',
  version: MetaVersion,
): Struct {
  const known = made.get(objectMeta) ?? new Map<string, Struct>()
  made.set(objectMeta, known)
  const key = `${version}.${kind}`
  const type = known.get(key) ?? makeType(objectMeta, kind, version)
  known.set(key, type)
  return type
}

function makeType(objectMeta: Type, kind: string, version: MetaVersion): Struct {
  const name = (of: string) => `io.k8s.apimachinery.pkg.apis.meta.${version}.${of}`
  const single = structOf(name('PartialObjectMetadata'), [field('metadata', objectMeta, 1, 'o')])
  if (kind === 'PartialObjectMetadata') return single
  // The older version has the field numbers in the opposite order.
  const [metadataNumber, itemsNumber] = version === 'v1' ? [1, 2] : [2, 1]
  return structOf(name(kind), [
    field('metadata', listMeta, metadataNumber, 'o'),
    field('items', listOf(single), itemsNumber, 'r'),
  ])
}
