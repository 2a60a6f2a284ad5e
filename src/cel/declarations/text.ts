/**
 * Functions of strings beyond the standard ones: cel-go's strings library and Kubernetes' regular
 * expressions.
 */
import {
  declare,
  dynType,
  type FunctionDeclaration,
  intType,
  listOf,
  member,
  overload,
  stringType,
} from '#cel/cel-type.ts'

const s = stringType
const i = intType
const listOfS = listOf(stringType)

/** Version 0 of cel-go's strings library. */
export const stringFunctions: readonly FunctionDeclaration[] = [
  declare('charAt', member('string_char_at_int', [s, i], s)),
  declare(
    'indexOf',
    member('string_index_of_string', [s, s], i),
    member('string_index_of_string_int', [s, s, i], i),
  ),
  declare(
    'lastIndexOf',
    member('string_last_index_of_string', [s, s], i),
    member('string_last_index_of_string_int', [s, s, i], i),
  ),
  declare('lowerAscii', member('string_lower_ascii', [s], s)),
  declare(
    'replace',
    member('string_replace_string_string', [s, s, s], s),
    member('string_replace_string_string_int', [s, s, s, i], s),
  ),
  declare(
    'split',
    member('string_split_string', [s, s], listOfS),
    member('string_split_string_int', [s, s, i], listOfS),
  ),
  declare(
    'substring',
    member('string_substring_int', [s, i], s),
    member('string_substring_int_int', [s, i, i], s),
  ),
  declare('trim', member('string_trim', [s], s)),
  declare('upperAscii', member('string_upper_ascii', [s], s)),
  declare('join', member('list_join', [listOfS], s), member('list_join_string', [listOfS, s], s)),
]

/** What version 2 of the strings library adds. */
export const stringFormatFunctions: readonly FunctionDeclaration[] = [
  declare('format', member('string_format', [s, listOf(dynType)], s)),
  declare('strings.quote', overload('strings_quote', [s], s)),
]

export const regexFunctions: readonly FunctionDeclaration[] = [
  declare('find', member('string_find_string', [s, s], s)),
  declare(
    'findAll',
    member('string_find_all_string', [s, s], listOfS),
    member('string_find_all_string_int', [s, s, i], listOfS),
  ),
]
