/**
 * Common steps of strategies before validation: keep the status or the spec of the old object, and
 * raise the generation. A restored status is in canonical form, with the zero values that the kind
 * writes.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { samePart } from './checks.ts'

/**
 * Copies one top-level field from the old object, or deletes it if the old object does not have it.
 */
export function keepField(next: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete next[field]
  else next[field] = copyData(old[field])
}

export const keepStatus = (next: KubeObject, old: KubeObject): void =>
  keepField(next, old, 'status')
export const keepSpec = (next: KubeObject, old: KubeObject): void => keepField(next, old, 'spec')

/** Raises the generation when any of the fields differs. */
export function raiseGeneration(
  next: KubeObject,
  old: KubeObject,
  fields: readonly string[],
  same = samePart,
): void {
  if (fields.every((field) => same(next[field], old[field]))) return
  next.metadata.generation = (old.metadata.generation ?? 0) + 1
}

/** A status update that may change nothing of metadata but the managed fields. */
export function keepMetadata(next: KubeObject, old: KubeObject): void {
  const { managedFields } = next.metadata
  next.metadata = copyData(old.metadata)
  if (managedFields === undefined) delete next.metadata.managedFields
  else next.metadata.managedFields = managedFields
}

/** A status update that leaves labels, annotations, owners and the like as they were. */
export function keepObjectMetaForStatus(next: KubeObject, old: KubeObject): void {
  const kept = [
    'deletionTimestamp',
    'generation',
    'selfLink',
    'labels',
    'annotations',
    'finalizers',
    'ownerReferences',
  ] as const
  const to = next.metadata as Record<string, unknown>
  const from = old.metadata as Record<string, unknown>
  for (const field of kept) {
    if (from[field] === undefined) delete to[field]
    else to[field] = copyData(from[field])
  }
}

/** Removes a field unless the old object used it, for fields of disabled features. */
export function dropUnlessUsed(
  holder: Record<string, unknown> | undefined,
  field: string,
  enabled: boolean,
  used: boolean,
): void {
  if (holder !== undefined && !enabled && !used) delete holder[field]
}
