/**
 * Renames members like Go's encoding/json matches them: a name without a field matches the first
 * field that differs only in case. If two members match one field, the last counts. It checks no
 * values.
 */
import type { Json } from '#api/object-meta.ts'
import type { Field, Struct, Type } from '#schema/type.ts'

export function foldNames(type: Type, value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    return type.is === 'list' ? value.map((item) => foldNames(type.items, item)) : value
  }
  if (type.is !== 'struct' || type.union === true) return value
  const folded = new Map<string, Json>()
  for (const [name, member] of Object.entries(value)) {
    const field = fieldOf(type, name)
    if (field === undefined) continue
    folded.set(field.name, foldNames(field.type, member))
  }
  return Object.fromEntries(folded)
}

function fieldOf({ byName }: Struct, name: string): Field | undefined {
  const exact = byName.get(name)
  if (exact !== undefined) return exact
  const folded = name.toLowerCase()
  for (const field of byName.values()) if (field.name.toLowerCase() === folded) return field
  return undefined
}
