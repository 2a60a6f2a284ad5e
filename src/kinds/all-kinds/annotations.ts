/** Annotations that represent fields of another version. */
import type { KubeObject } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import { setKey } from '#schema/user-key.ts'

export const annotationOf = (object: KubeObject, key: string): string | undefined =>
  ownValue(object.metadata.annotations, key)

export function annotate(object: KubeObject, key: string, value: string): void {
  object.metadata.annotations ??= {}
  setKey(object.metadata.annotations, key, value)
}

/** Removes annotations. Also removes the map if it is empty then. */
export function dropAnnotations(object: KubeObject, keys: readonly string[]): void {
  const { annotations } = object.metadata
  if (annotations === undefined) return
  for (const key of keys) delete annotations[key]
  if (Object.keys(annotations).length === 0) delete object.metadata.annotations
}

/** Serialises JSON as Go does, with HTML characters escaped. */
export const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (ch) => `\\u${ch.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
