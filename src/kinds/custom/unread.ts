/**
 * Marks an object that holds more than its readers will find: nulls that apply left, replicas at a place that the schema
 * does not know. They are checked with the rest, and go on the way to the store. A copy of the object has no mark.
 */
import type { KubeObject } from '#api/object-meta.ts'

const unread = Symbol('holds more than readers will find')

export function markUnread(object: KubeObject): KubeObject {
  Object.defineProperty(object, unread, { value: true, configurable: true })
  return object
}

export const isUnread = (object: KubeObject): boolean =>
  (object as { [unread]?: boolean })[unread] === true
