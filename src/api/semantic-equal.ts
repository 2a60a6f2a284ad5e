/**
 * Semantic equality as in Kubernetes: absent, null, empty lists and empty maps are equal, and the
 * order of keys does not matter. Quantities are canonical strings, so equal quantities nearly
 * always have equal text. `semanticEqualQuantities` also handles exceptions such as `1` and `+1`.
 */
import { compareQuantities } from './quantity.ts'

const isNothing = (value: unknown): boolean => {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return isNothing(a) && isNothing(b)
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return isNothing(a) && isNothing(b)
    for (let i = 0; i < a.length; i++) if (!semanticEqual(a[i], b[i])) return false
    return true
  }
  if (Array.isArray(b)) return isNothing(a) && isNothing(b)
  return sameMaps(a as Record<string, unknown>, b as Record<string, unknown>)
}

function sameMaps(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  for (const key of Object.keys(a)) {
    const other = Object.hasOwn(b, key) ? b[key] : undefined
    if (!semanticEqual(a[key], other)) return false
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false
  }
  return true
}

/** Whether two resource lists have the same names with equal quantities. */
export function semanticEqualQuantities(
  a: Readonly<Record<string, string>> | null | undefined,
  b: Readonly<Record<string, string>> | null | undefined,
): boolean {
  const keys = Object.keys(a ?? {})
  if (keys.length !== Object.keys(b ?? {}).length) return false
  return keys.every((key) => {
    if (!Object.hasOwn(b as object, key)) return false
    const [x, y] = [a?.[key] as string, b?.[key] as string]
    return x === y || compareQuantities(x, y) === 0
  })
}
