/**
 * Replaces empty byte arrays by null in a copy of an object, from which field ownership is
 * computed. Until 1.23 kube-apiserver does this after a strategic merge patch. The object itself,
 * which is stored and returned, keeps its empty byte arrays.
 *
 *   Secret { data: { 'tls.crt': '' } } → { data: { 'tls.crt': null } }
 */
import type { Json } from '#api/object-meta.ts'
import type { Type } from '#schema/type.ts'
import { isMap, type JsonMap, setMember } from './json-map.ts'

const bytesBelow = new WeakMap<Type, boolean>()

/** Returns `value` itself if its type contains no byte arrays. */
export function withNilBytes(type: Type, value: Json): Json {
  if (!holdsBytes(type)) return value
  switch (type.is) {
    case 'scalar':
      return value === '' ? null : value
    case 'list':
      return Array.isArray(value) ? value.map((item) => withNilBytes(type.items, item)) : value
    case 'map':
      return isMap(value) ? members(value, () => type.values) : value
    case 'struct':
      return isMap(value) ? members(value, (name) => type.byName.get(name)?.type) : value
    case 'untyped':
      return value
  }
}

function members(map: JsonMap, typeOf: (name: string) => Type | undefined): JsonMap {
  const out: JsonMap = {}
  for (const name in map) {
    const type = typeOf(name)
    const value = map[name] as Json
    setMember(out, name, type === undefined ? value : withNilBytes(type, value))
  }
  return out
}

/**
 * Whether the type contains byte arrays. A type that is reached again through itself counts as one
 * without, which ends the recursion.
 */
function holdsBytes(type: Type): boolean {
  const known = bytesBelow.get(type)
  if (known !== undefined) return known
  bytesBelow.set(type, false)
  const found = findBytes(type)
  bytesBelow.set(type, found)
  return found
}

function findBytes(type: Type): boolean {
  switch (type.is) {
    case 'scalar':
      return type.scalar === 'bytes'
    case 'list':
      return holdsBytes(type.items)
    case 'map':
      return holdsBytes(type.values)
    case 'struct':
      return type.fields.some((field) => holdsBytes(field.type))
    case 'untyped':
      return false
  }
}
