/**
 * Functions of lists: Kubernetes' lists library, cel-go's lists and sets, and what two-variable
 * macros call.
 */
import { add } from '#cel/arithmetic.ts'
import { ArrayList, listContains, MapBuilder } from '#cel/collections.ts'
import { compare, equal } from '#cel/equality.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { rangeSizeMax } from '#cel/runtime-cost.ts'
import { showValue } from '#cel/show-value.ts'
import {
  CelError,
  Duration,
  ListValue,
  type MapValue,
  overloadError,
  typeName,
  Uint,
  type Value,
} from '#cel/values.ts'
import { work } from '#cel/work.ts'

function isSorted(list: ListValue): Value {
  for (let index = 1; index < list.size; index += 1)
    if (compare(list.at(index - 1), list.at(index)) === 1) return false
  return true
}

const sumFrom =
  (zero: Value) =>
  (list: ListValue): Value => {
    let sum = zero
    for (const element of list) {
      sum = add(sum, element)
      if (sum instanceof CelError) return overloadError()
    }
    return sum
  }

const extreme =
  (name: string, replaces: number) =>
  (list: ListValue): Value => {
    if (list.size === 0) return new CelError(`${name} called on empty list`)
    let best = list.at(0)
    for (const element of list) if (compare(best, element) === replaces) best = element
    return best
  }

function indexOf(list: ListValue, element: Value): Value {
  for (let index = 0; index < list.size; index += 1)
    if (equal(list.at(index), element) === true) return BigInt(index)
  return -1n
}

function lastIndexOf(list: ListValue, element: Value): Value {
  for (let index = list.size - 1; index >= 0; index -= 1)
    if (equal(list.at(index), element) === true) return BigInt(index)
  return -1n
}

function includes(target: Value, element: Value): Value {
  if (target instanceof ListValue) {
    for (const member of target) if (equal(member, element) === true) return true
    return false
  }
  return equal(target, element) === true
}

function slice(list: ListValue, start: bigint, end: bigint): Value {
  const problem = `cannot slice(${start}, ${end})`
  if (start < 0n || end < 0n) return new CelError(`${problem}, negative indexes not supported`)
  if (start > end)
    return new CelError(`${problem}, start index must be less than or equal to end index`)
  if (BigInt(list.size) < end) return new CelError(`${problem}, list is length ${list.size}`)
  const elements: Value[] = []
  for (let index = Number(start); index < Number(end); index += 1) elements.push(list.at(index))
  return new ArrayList(elements)
}

/** Work of one list or element that is laid into another list. */
const flattenedWork = 100

function flatten(list: ListValue, depth: bigint): Value {
  if (depth < 0n) return new CelError('level must be non-negative')
  const elements: Value[] = []
  const collect = (from: ListValue, rest: bigint) => {
    work(flattenedWork * (1 + from.size))
    for (const element of from)
      if (element instanceof ListValue && rest > 0n) collect(element, rest - 1n)
      else elements.push(element)
  }
  collect(list, depth)
  return new ArrayList(elements)
}

/** Elements in the order of their keys. */
function sortBy(list: ListValue, keys: ListValue): Value {
  if (list.size !== keys.size)
    return new CelError(
      '@sortByAssociatedKeys() expected a list of the same size as the associated keys list, ' +
        `but got ${list.size} and ${keys.size} elements respectively`,
    )
  if (list.size === 0) return list
  const type = typeName(keys.at(0))
  const entries = Array.from({ length: list.size }, (_, index) => ({
    key: keys.at(index),
    element: list.at(index),
  }))
  if (entries.some(({ key }) => typeName(key) !== type))
    return new CelError('list elements must have the same type')
  if (compare(keys.at(0), keys.at(0)) instanceof CelError)
    return new CelError('list elements must be comparable')
  entries.sort((a, b) => {
    const order = compare(a.key, b.key)
    return typeof order === 'number' ? order : 0
  })
  return new ArrayList(entries.map(({ element }) => element))
}

function range(count: bigint): Value {
  if (count < 0n) return new CelError(`lists.range: size must be non-negative, got ${count}`)
  if (count > BigInt(rangeSizeMax))
    return new CelError(`lists.range: size ${count} exceeds maximum allowed (${rangeSizeMax})`)
  return new ArrayList(Array.from({ length: Number(count) }, (_, index) => BigInt(index)))
}

function distinct(list: ListValue): Value {
  const kept: Value[] = []
  for (const element of list)
    if (!kept.some((other) => equal(element, other) === true)) kept.push(element)
  return new ArrayList(kept)
}

const containsAll = (list: ListValue, other: ListValue): boolean => {
  for (const element of other) if (!listContains(list, element)) return false
  return true
}

const intersects = (list: ListValue, other: ListValue): boolean => {
  for (const element of list) if (listContains(other, element)) return true
  return false
}

/** Adds an entry to the map that a macro makes, or to a copy of another map. */
function mapInsert(map: MapValue, key: Value, value: Value): Value {
  if (map.find(key) !== undefined)
    return new CelError(`insert failed: key ${showValue(key)} already exists`)
  const builder = map instanceof MapBuilder ? map : copyOf(map)
  return builder.set(key, value) ?? builder
}

function mapInsertAll(map: MapValue, entries: MapValue): Value {
  let result: Value = map
  for (const key of entries.keys()) {
    result = mapInsert(result as MapValue, key, entries.find(key) as Value)
    if (result instanceof CelError) return result
  }
  return result
}

function copyOf(map: MapValue): MapBuilder {
  const builder = new MapBuilder()
  for (const key of map.keys()) builder.set(key, map.find(key) as Value)
  return builder
}

// biome-ignore lint/suspicious/noExplicitAny: the types of the arguments follow from the overload
const of = (call: (...args: any[]) => Value): Implementation => call as Implementation

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']
const namesInCelGo = new Map([
  ['duration', 'google.protobuf.Duration'],
  ['timestamp', 'google.protobuf.Timestamp'],
])

const zeros: readonly (readonly [string, Value])[] = [
  ['int', 0n],
  ['uint', new Uint(0n)],
  ['double', 0],
  ['duration', new Duration(0n)],
]

/** Implementations by the id of the overload. */
export const collectionImplementations: readonly (readonly [string, Implementation])[] = [
  ...comparable.flatMap((type): (readonly [string, Implementation])[] => [
    [`list_${type}_is_sorted_bool`, of(isSorted)],
    [`list_${type}_max_${type}`, of(extreme('max', -1))],
    [`list_${type}_min_${type}`, of(extreme('min', 1))],
    [`list_${namesInCelGo.get(type) ?? type}_sort`, of((list) => sortBy(list, list))],
    [`list_${namesInCelGo.get(type) ?? type}_sortByAssociatedKeys`, of(sortBy)],
  ]),
  ...zeros.map(([type, zero]) => [`list_${type}_sum_${type}`, of(sumFrom(zero))] as const),
  ['list_a_index_of_int', of(indexOf)],
  ['list_a_last_index_of_int', of(lastIndexOf)],
  ['list_includes_dyn_dyn', of(includes)],
  ['list_slice', of(slice)],
  ['list_flatten', of((list) => flatten(list, 1n))],
  ['list_flatten_int', of(flatten)],
  ['lists_range', of(range)],
  ['list_reverse', of((list: ListValue) => new ArrayList([...list].reverse()))],
  ['list_distinct', of(distinct)],
  ['list_sets_contains_list', of(containsAll)],
  ['list_sets_intersects_list', of(intersects)],
  ['list_sets_equivalent_list', of((a, b) => containsAll(a, b) && containsAll(b, a))],
  ['@mapInsert_map_key_value', of(mapInsert)],
  ['@mapInsert_map_map', of(mapInsertAll)],
]
