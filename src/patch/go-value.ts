/**
 * Formats decoded JSON like Go's `%v`, `%s` and `%T`, because messages about patches contain such
 * values.
 */
import { goFloat, namesInOrder } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'

/** Go's `%v`; integers that a double cannot represent are bigint. */
export const goValue = (value: Json | bigint): string => printed(value, goScalar)

/** Go's `%s`, which prints an error for each scalar that is not a string. */
export function goText(value: Json | bigint): string {
  if (value === null) return '%!s(<nil>)'
  return printed(value, (scalar) =>
    typeof scalar === 'string' || scalar === null
      ? goScalar(scalar)
      : `%!s(${goType(scalar)}=${goScalar(scalar)})`,
  )
}

function goScalar(value: Json | bigint): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number') return isInt64(value) ? String(value) : goFloat(value)
  return String(value)
}

function printed(value: Json | bigint, scalar: (value: Json | bigint) => string): string {
  if (value === null || typeof value !== 'object') return scalar(value)
  if (Array.isArray(value)) return `[${value.map((item) => printed(item, scalar)).join(' ')}]`
  const names = namesInOrder(value)
  const members = names.map((name) => `${name}:${printed(value[name] as Json, scalar)}`)
  return `map[${members.join(' ')}]`
}

/** JSON numbers without a fraction are integers in Go if they fit in an int64. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63

/** Go's `%T`. */
export function goType(value: Json | bigint): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  return goKind(value)
}

/** The kind of a value in Go's reflection. */
export function goKind(value: Json | bigint): string {
  if (value === null) return 'invalid'
  if (typeof value === 'bigint') return 'int64'
  if (Array.isArray(value)) return 'slice'
  if (typeof value === 'object') return 'map'
  if (typeof value === 'number') return isInt64(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : 'string'
}
