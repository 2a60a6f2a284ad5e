/**
 * Lists that are sets or maps hold each item once: sets by the whole item, maps by the items' keys. Compiled along the
 * ways that lead to such a list.
 */
import { duplicate, type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { isObject } from '#schema/misfit.ts'
import {
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  propertyOf,
  valuesOf,
} from './json-schema.ts'
import { leadsTo } from './leads-to.ts'
import { sortedCopy } from './sorted-copy.ts'

const leadsToList = leadsTo((schema) => {
  const type = listTypeOf(schema)
  return type === 'set' || type === 'map'
})

export function checkListTypes(
  schema: JsonSchema | undefined,
  value: Json,
  path = FieldPath.root,
): FieldError[] {
  if (schema === undefined || !leadsToList(schema)) return []
  if (Array.isArray(value)) return checkList(schema, value, path)
  if (!isObject(value)) return []
  const errors: FieldError[] = []
  const others = valuesOf(schema)
  for (const key of Object.keys(value)) {
    if (others !== undefined) errors.push(...checkListTypes(others, value[key], path.key(key)))
    const property = propertyOf(schema, key)
    if (property !== undefined)
      errors.push(...checkListTypes(property, value[key], path.child(key)))
  }
  return errors
}

function checkList(schema: JsonSchema, list: Json[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const type = listTypeOf(schema)
  if (type === 'set') for (const i of repeated(list)) errors.push(duplicate(path.index(i), list[i]))
  if (type === 'map') errors.push(...checkMap(schema, list, path))
  const items = itemsOf(schema)
  if (items !== undefined) {
    for (const [i, item] of list.entries())
      errors.push(...checkListTypes(items, item, path.index(i)))
  }
  return errors
}

function checkMap(schema: JsonSchema, list: Json[], path: FieldPath): FieldError[] {
  const stranger = list.findIndex((item) => item !== null && !isObject(item))
  if (stranger !== -1) {
    const detail = 'must be an object for an array of list-type map'
    return [invalid(path.index(stranger), list[stranger], detail)]
  }
  const names = mapKeysOf(schema)
  const keys = list.map((item) => {
    const own = names.filter((name) => item !== null && Object.hasOwn(item as object, name))
    return Object.fromEntries(own.map((name) => [name, (item as { [key: string]: Json })[name]]))
  })
  return repeated(keys).map((i) => duplicate(path.index(i), keys[i]))
}

/** The second place of every value that stands in several. */
function repeated(list: readonly Json[]): number[] {
  if (list.length < 2) return []
  const times = new Map<string, number>()
  const found: number[] = []
  for (const [i, item] of list.entries()) {
    const text = JSON.stringify(sortedCopy(item))
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    if (before === 1) found.push(i)
  }
  return found
}
