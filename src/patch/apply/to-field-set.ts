/**
 * The set of all paths in an object, by its type: the fields that an apply configuration claims.
 * Items of lists and keys of maps are paths themselves; a field of a struct is a path only if
 * nothing is below it.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap, type JsonMap } from '#patch/json-map.ts'
import type { List, Type } from '#schema/type.ts'
import { emptySet, type FieldSet, isMember, leaf, levelOf } from './field-set.ts'
import { type ApplyRules, newestRules } from './rules.ts'
import { isHollow, isNamedField, itemElement, memberType, shapeOf, untyped } from './shape.ts'

/** The object must be valid for its type. */
export function toFieldSet(type: Type, object: Json, rules: ApplyRules = newestRules): FieldSet {
  return pathsOf(type, object, rules) ?? emptySet
}

/** The paths below a value: a leaf if the value is a path itself, undefined if there are none. */
function pathsOf(type: Type, value: Json, rules: ApplyRules): FieldSet | undefined {
  const shape = shapeOf(type, value)
  if (shape === 'leaf') return leaf
  if (shape === 'list')
    return Array.isArray(value) ? pathsOfItems(type as List, value, rules) : undefined
  return isMap(value) ? pathsOfMembers(type, value, rules) : undefined
}

function pathsOfMembers(type: Type, map: JsonMap, rules: ApplyRules): FieldSet | undefined {
  const steps: [string, FieldSet][] = []
  for (const name of Object.keys(map)) {
    const value = map[name] as Json
    const below = pathsOf(memberType(type, name) ?? untyped, value, rules)
    const empty = rules.dropsFields && (value === null || (isMap(value) && isHollow(value)))
    const member = empty || !isNamedField(type, name)
    if (below === undefined) {
      if (member) steps.push([`f:${name}`, leaf])
    } else steps.push([`f:${name}`, member ? alsoMember(below) : below])
  }
  return steps.length === 0 ? undefined : levelOf(steps, false)
}

function pathsOfItems(list: List, items: Json[], rules: ApplyRules): FieldSet | undefined {
  if (items.length === 0) return undefined
  const steps = new Map<string, FieldSet>()
  for (const item of items) {
    const element = itemElement(list, item)
    const below = steps.has(element) ? undefined : pathsOf(list.items, item, rules)
    steps.set(element, below === undefined ? leaf : alsoMember(below))
  }
  return levelOf([...steps], false)
}

const alsoMember = (below: FieldSet): FieldSet =>
  isMember(below) ? below : { '.': leaf, ...below }
