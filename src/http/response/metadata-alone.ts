/**
 * Metadata as responses show it without the rest of the object. The object itself is never changed.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import type { Kind } from '#kinds/kind.ts'

/** Annotations that represent fields of another version are not part of the metadata. */
export function withoutConversionAnnotations({ resource }: Kind, object: KubeObject): KubeObject {
  const { annotations, ...metadata } = object.metadata
  const { conversionAnnotations: names } = resource.behaviour
  if (annotations === undefined || names === undefined) return object
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name))
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) },
  }
}

/** The metadata of a bookmark, which has no creation time. */
export const withTimes = ({ metadata, ...rest }: Loose, release: number): Loose => ({
  ...rest,
  metadata: { ...metadata, ...unsetCreationTime(release) },
})
