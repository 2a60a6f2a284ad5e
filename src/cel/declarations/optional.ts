/**
 * Functions of optional values: `self.?spec.?size.orValue(1)`, `optional.of(1)`, `[1, 2].first()`.
 */
import {
  boolType,
  declare,
  dynType,
  type FunctionDeclaration,
  intType,
  listOf,
  mapOf,
  member,
  optionalOf,
  overload,
  stringType,
  typeParam,
} from '#cel/cel-type.ts'

const k = typeParam('K')
const v = typeParam('V')
const optionalV = optionalOf(v)
const listOfV = listOf(v)
const mapOfKV = mapOf(k, v)
const listOfOptionalV = listOf(optionalV)

export const optionalFunctions: readonly FunctionDeclaration[] = [
  declare('optional.of', overload('optional_of', [v], optionalV)),
  declare('optional.ofNonZeroValue', overload('optional_ofNonZeroValue', [v], optionalV)),
  declare('optional.none', overload('optional_none', [], optionalV)),
  declare('value', member('optional_value', [optionalV], v)),
  declare('hasValue', member('optional_hasValue', [optionalV], boolType)),
  declare('or', member('optional_or_optional', [optionalV, optionalV], optionalV)),
  declare('orValue', member('optional_orValue_value', [optionalV, v], v)),
  // The checker takes the result of _?._ from the type of the field.
  declare('_?._', overload('select_optional_field', [dynType, stringType], optionalV)),
  declare(
    '_[?_]',
    overload('list_optindex_optional_int', [listOfV, intType], optionalV),
    overload('optional_list_optindex_optional_int', [optionalOf(listOfV), intType], optionalV),
    overload('map_optindex_optional_value', [mapOfKV, k], optionalV),
    overload('optional_map_optindex_optional_value', [optionalOf(mapOfKV), k], optionalV),
  ),
  declare(
    '_[_]',
    overload('optional_list_index_int', [optionalOf(listOfV), intType], optionalV),
    overload('optional_map_index_value', [optionalOf(mapOfKV), k], optionalV),
  ),
]

/** Added to optional types by a later cel-go. */
export const optionalListFunctions: readonly FunctionDeclaration[] = [
  declare('last', member('list_last', [listOfV], optionalV)),
  declare('first', member('list_first', [listOfV], optionalV)),
  declare('optional.unwrap', overload('optional_unwrap', [listOfOptionalV], listOfV)),
  declare('unwrapOpt', member('optional_unwrapOpt', [listOfOptionalV], listOfV)),
]
