/**
 * Removes the paths of a set from an object, or all other paths. A map or list that loses all its
 * contents becomes null, as in kube-apiserver. Atomic values are removed as a whole. Results share
 * parts with the object, which is not changed.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap, type JsonMap, setMember } from '#patch/json-map.ts'
import type { List, Type } from '#schema/type.ts'
import { type FieldSet, hasChildren, isMember } from './field-set.ts'
import { type ApplyRules, newestRules } from './rules.ts'
import { isHollow, isNamedField, itemElement, memberType, shapeOf, untyped } from './shape.ts'

export function removeItems(
  type: Type,
  value: Json,
  paths: FieldSet,
  rules: ApplyRules = newestRules,
): Json {
  if (type.is === 'scalar' && type.scalar !== 'any') return value
  if (!rules.dropsFields && (isHollow(value) || shapeOf(type, value) === 'leaf')) return value
  if (value === null || typeof value !== 'object') {
    return type.is === 'scalar' || type.is === 'untyped' ? value : null
  }
  if (isHollow(value) || shapeOf(type, value) === 'leaf') return null
  return Array.isArray(value)
    ? itemsWithout(type as List, value, paths, rules)
    : membersWithout(type, value, paths, rules)
}

function itemsWithout(list: List, items: Json[], paths: FieldSet, rules: ApplyRules): Json {
  const kept: Json[] = []
  for (const item of items) {
    const subtree = paths[itemElement(list, item)]
    if (subtree === undefined) kept.push(item)
    else if (!isMember(subtree)) kept.push(removeItems(list.items, item, subtree, rules))
  }
  return kept.length > 0 ? kept : null
}

function membersWithout(type: Type, map: JsonMap, paths: FieldSet, rules: ApplyRules): Json {
  const kept: JsonMap = {}
  let any = false
  for (const name of Object.keys(map)) {
    const value = map[name] as Json
    const subtree = paths[`f:${name}`]
    const goes = rules.dropsFields || !isNamedField(type, name)
    if (goes && subtree !== undefined && isMember(subtree)) continue
    const member = memberType(type, name) ?? untyped
    setMember(
      kept,
      name,
      subtree === undefined ? value : removeItems(member, value, subtree, rules),
    )
    any = true
  }
  return any ? kept : null
}

/**
 * undefined: the set has nothing of this value. A path without paths below it brings its whole
 * value.
 */
export function extractItems(type: Type, value: Json, paths: FieldSet): Json | undefined {
  if (!hasChildren(paths)) return undefined
  if (value === null || typeof value !== 'object' || shapeOf(type, value) === 'leaf') return value
  if (Array.isArray(value)) {
    const list = type as List
    const items: Json[] = []
    for (const item of value)
      take(list.items, item, paths[itemElement(list, item)], (part) => items.push(part))
    return items.length > 0 ? items : undefined
  }
  if (!isMap(value)) return undefined
  const members: JsonMap = {}
  for (const name of Object.keys(value)) {
    const member = memberType(type, name) ?? untyped
    take(member, value[name] as Json, paths[`f:${name}`], (part) => setMember(members, name, part))
  }
  return isHollow(members) ? undefined : members
}

function take(
  type: Type,
  value: Json,
  subtree: FieldSet | undefined,
  found: (part: Json) => void,
): void {
  if (subtree === undefined) return
  const part = hasChildren(subtree) ? extractItems(type, value, subtree) : value
  if (part !== undefined) found(part)
}
