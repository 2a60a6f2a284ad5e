/**
 * Marks an object that has fields which will not be stored. Examples are nulls from an apply, and
 * replicas at a path that the schema does not have. Validation sees these fields; they are dropped
 * before the object is stored. A copy of the object has no mark.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'

const unread = Symbol('holds more than readers will find')

type Marked = { [unread]?: readonly string[] }

/** `path` is the path of a value that the schema may not have. */
export function markUnread(object: KubeObject, path: readonly string[] = []): KubeObject {
  Object.defineProperty(object, unread, { value: path, configurable: true })
  return object
}

export const isUnread = (object: KubeObject): boolean => (object as Marked)[unread] !== undefined

/** Copies the value at the marked path into the pruned object. */
export function putBack(read: KubeObject, from: KubeObject): KubeObject {
  const path = (from as Marked)[unread] ?? []
  if (path.length === 0) return read
  let [place, source]: Loose[] = [read, from]
  for (const name of path.slice(0, -1)) {
    place[name] = { ...place[name] }
    place = place[name]
    source = source?.[name]
  }
  const last = path[path.length - 1]
  if (source?.[last] !== undefined) place[last] = source[last]
  return markUnread(read, path)
}
