/**
 * Access to JSON objects whose keys users choose: `__proto__` and `constructor` are ordinary keys.
 */
import type { Json } from '#api/object-meta.ts'

export type JsonMap = { [name: string]: Json }

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function ownValue(map: JsonMap, name: string): Json | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

/** An ordinary assignment would lose `__proto__`. */
export function setMember(map: JsonMap, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(map, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else map[name] = value
}

/** Deep equality: the order of members does not matter, null and absent differ. */
export function equalValues(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!equalValues(a[i] as Json, b[i] as Json)) return false
    return true
  }
  if (Array.isArray(b)) return false
  let count = 0
  for (const name in a) {
    // All other inherited members are functions, which equal no JSON value.
    const other = name === '__proto__' ? ownValue(b, name) : b[name]
    if (other === undefined || !equalValues(a[name] as Json, other)) return false
    count++
  }
  for (const _ in b) count--
  return count === 0
}

/** A copy that shares nothing with its source. */
export function copyValue(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(copyValue)
  const out: JsonMap = {}
  for (const name in value) setMember(out, name, copyValue(value[name] as Json))
  return out
}
