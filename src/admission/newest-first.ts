/** Sorts objects by creation time, newest first; objects of the same age by name. */
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'

export const newestFirst = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.toSorted(
    (a, b) =>
      byCodePoint(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? '') ||
      byCodePoint(a.metadata.name ?? '', b.metadata.name ?? ''),
  )
