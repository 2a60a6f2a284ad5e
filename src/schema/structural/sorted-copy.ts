/**
 * Deep copies of JSON values with keys in Go's order, so that equal objects have equal bytes. The
 * original order of keys is remembered next to the copy, because errors are reported in that order.
 */
import type { Json } from '#api/object-meta.ts'
import type { JsonObject } from '#schema/misfit.ts'
import { compareKeys, setKey } from '#schema/user-key.ts'

export function sortedCopy(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(sortedCopy)
  const copy: JsonObject = {}
  for (const key of sortedKeys(value)) setKey(copy, key, sortedCopy(value[key]))
  return copy
}

/** The sorted keys of an object; most objects are sorted already. */
export function sortedKeys(object: object): string[] {
  const keys = Object.keys(object)
  for (let i = 1; i < keys.length; i++) {
    if (compareKeys(keys[i - 1], keys[i]) > 0) return keys.sort(compareKeys)
  }
  return keys
}

/** Sorts the keys of an object in place. */
export function sortInPlace(object: JsonObject): void {
  const keys = sortedKeys(object)
  for (const key of keys) {
    const value = object[key]
    delete object[key]
    setKey(object, key, value)
  }
}

const written = new WeakMap<object, readonly string[]>()

/** Remembers the order in which the client wrote a map, if it differs from the sorted order. */
export function rememberOrder(copy: object, from: object, sorted: readonly string[]): void {
  const keys = Object.keys(from)
  if (keys.some((key, i) => key !== sorted[i])) written.set(copy, keys)
}

/** The keys of a map in the order in which they were written. */
export function keysAsWritten(map: object): readonly string[] {
  const keys = written.get(map)
  return keys === undefined ? Object.keys(map) : keys.filter((key) => Object.hasOwn(map, key))
}
