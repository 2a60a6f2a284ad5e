/**
 * Functions of lists and maps: Kubernetes' lists library, cel-go's lists and sets, and what
 * two-variable macros call.
 */
import {
  boolType,
  bytesType,
  type CelType,
  declare,
  doubleType,
  durationType,
  dynType,
  type FunctionDeclaration,
  intType,
  listOf,
  mapOf,
  member,
  overload,
  stringType,
  timestampType,
  typeParam,
  uintType,
} from '#cel/cel-type.ts'

const t = typeParam('T')
const listOfT = listOf(t)
const listOfDyn = listOf(dynType)

/** Kubernetes' ids name a duration `duration`, cel-go's ids `google.protobuf.Duration`. */
const summable: readonly (readonly [string, CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['duration', durationType],
]
const comparable: readonly (readonly [string, CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
]

const a = typeParam('A')

/** Kubernetes' lists library. */
export const listFunctions: readonly FunctionDeclaration[] = [
  declare(
    'isSorted',
    ...comparable.map(([word, type]) =>
      member(`list_${word}_is_sorted_bool`, [listOf(type)], boolType),
    ),
  ),
  declare(
    'sum',
    ...summable.map(([word, type]) => member(`list_${word}_sum_${word}`, [listOf(type)], type)),
  ),
  declare(
    'max',
    ...comparable.map(([word, type]) => member(`list_${word}_max_${word}`, [listOf(type)], type)),
  ),
  declare(
    'min',
    ...comparable.map(([word, type]) => member(`list_${word}_min_${word}`, [listOf(type)], type)),
  ),
  declare('indexOf', member('list_a_index_of_int', [listOf(a), a], intType)),
  declare('lastIndexOf', member('list_a_last_index_of_int', [listOf(a), a], intType)),
]

/** What version 1 of Kubernetes' lists library adds. */
export const listIncludesFunctions: readonly FunctionDeclaration[] = [
  declare('includes', member('list_includes_dyn_dyn', [dynType, dynType], boolType)),
]

/** cel-go's lists library, version 3. */
export const extendedListFunctions: readonly FunctionDeclaration[] = [
  declare('slice', member('list_slice', [listOfT, intType, intType], listOfT)),
  declare(
    'flatten',
    member('list_flatten', [listOf(listOfT)], listOfT),
    member('list_flatten_int', [listOfDyn, intType], listOfDyn),
  ),
  declare(
    'sort',
    ...comparable.map(([, type]) => member(`list_${type.name}_sort`, [listOf(type)], listOf(type))),
  ),
  declare(
    '@sortByAssociatedKeys',
    ...comparable.map(([, type]) =>
      member(`list_${type.name}_sortByAssociatedKeys`, [listOfT, listOf(type)], listOfT),
    ),
  ),
  declare('lists.range', overload('lists_range', [intType], listOf(intType))),
  declare('reverse', member('list_reverse', [listOfT], listOfT)),
  declare('distinct', member('list_distinct', [listOfT], listOfT)),
]

export const setFunctions: readonly FunctionDeclaration[] = [
  declare('sets.contains', overload('list_sets_contains_list', [listOfT, listOfT], boolType)),
  declare('sets.equivalent', overload('list_sets_equivalent_list', [listOfT, listOfT], boolType)),
  declare('sets.intersects', overload('list_sets_intersects_list', [listOfT, listOfT], boolType)),
]

const k = typeParam('K')
const v = typeParam('V')
const mapOfKV = mapOf(k, v)

/** Only macros call it: transformMap and transformMapEntry. */
export const mapInsertFunctions: readonly FunctionDeclaration[] = [
  declare(
    'cel.@mapInsert',
    overload('@mapInsert_map_key_value', [mapOfKV, k, v], mapOfKV),
    overload('@mapInsert_map_map', [mapOfKV, mapOfKV], mapOfKV),
  ),
]
