/**
 * Checks that lists of type set or map have no duplicates: sets compare whole items, maps compare
 * the keys of items. Compiled only for paths that lead to such a list.
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
  const errors: FieldError[] = []
  look(schema, value, path, errors)
  return errors
}

/** Pushes errors one by one, because a call has a limit of arguments. */
function look(
  schema: JsonSchema | undefined,
  value: Json,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (schema === undefined || !leadsToList(schema)) return
  if (Array.isArray(value)) {
    checkList(schema, value, path, errors)
    return
  }
  if (!isObject(value)) return
  const others = valuesOf(schema)
  for (const key of Object.keys(value)) {
    if (others !== undefined) look(others, value[key], path.key(key), errors)
    const property = propertyOf(schema, key)
    if (property !== undefined) look(property, value[key], path.child(key), errors)
  }
}

function checkList(schema: JsonSchema, list: Json[], path: FieldPath, errors: FieldError[]): void {
  const type = listTypeOf(schema)
  if (type === 'set') for (const i of repeated(list)) errors.push(duplicate(path.index(i), list[i]))
  if (type === 'map') for (const error of checkMap(schema, list, path)) errors.push(error)
  const items = itemsOf(schema)
  if (items === undefined) return
  for (const [i, item] of list.entries()) look(items, item, path.index(i), errors)
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

/** For each value that occurs several times, the index of its second occurrence. */
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
