/**
 * Finds the parts of an apply configuration that are owned as a whole, because a mutation must not
 * contain them.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap } from '#patch/json-map.ts'
import type { Type } from '#schema/type.ts'

/** Paths as structured merge diff prints them: `.spec.nodeSelector`, `.spec.args[0].x`. */
export function atomicParts(type: Type, value: Json): string[] {
  const found: string[] = []
  look(type, value, '', found)
  return found
}

function look(type: Type, value: Json, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    const isAtomic = type.is === 'untyped' || (type.is === 'list' && type.listType === 'atomic')
    if (isAtomic) found.push(path)
    if (type.is !== 'list') return
    for (const [i, item] of value.entries()) look(type.items, item, `${path}[${i}]`, found)
  } else if (isMap(value)) {
    if (isAtomicMap(type)) found.push(path)
    // Plain maps have no declared fields.
    if (type.is !== 'struct') return
    for (const [name, member] of Object.entries(value)) {
      const field = type.byName.get(name)
      if (field !== undefined) look(field.type, member, `${path}.${name}`, found)
    }
  }
}

const isAtomicMap = (type: Type): boolean =>
  (type.is === 'map' && type.atomic) ||
  (type.is === 'struct' && (type.atomic || type.union === true))
