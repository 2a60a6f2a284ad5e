/**
 * Marks an object that holds more than its readers will find: nulls that apply left, replicas at a
 * place that the schema does not know. They are checked with the rest, and go on the way to the
 * store. A copy of the object has no mark.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'

const unread = Symbol('holds more than readers will find')

type Marked = { [unread]?: readonly string[] }

/** `path`: where something was put that the schema may not know. */
export function markUnread(object: KubeObject, path: readonly string[] = []): KubeObject {
  Object.defineProperty(object, unread, { value: path, configurable: true })
  return object
}

export const isUnread = (object: KubeObject): boolean => (object as Marked)[unread] !== undefined

/** Puts what stands at the marked path of an object back into what was read from it. */
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
