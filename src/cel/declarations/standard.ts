/**
 * The operators and functions that every CEL expression can use, with cel-go's overload ids.
 * The order of overloads is that of cel-go: with arguments of type dyn, the first match decides the
 * result type.
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
  nullType,
  type Overload,
  overload,
  stringType,
  timestampType,
  typeOf,
  typeParam,
  typeType,
  uintType,
} from '#cel/cel-type.ts'

const a = typeParam('A')
const b = typeParam('B')
const listOfA = listOf(a)
const mapOfAB = mapOf(a, b)

/** The word for a type in overload ids such as `add_int64` and `less_double_uint64`. */
const word = new Map<CelType, string>([
  [boolType, 'bool'],
  [bytesType, 'bytes'],
  [doubleType, 'double'],
  [durationType, 'duration'],
  [intType, 'int64'],
  [stringType, 'string'],
  [timestampType, 'timestamp'],
  [uintType, 'uint64'],
])

/** A function of two values of one type: `add_int64`. */
const same = (verb: string, type: CelType): Overload =>
  overload(`${verb}_${word.get(type)}`, [type, type], type)

/** A function of two values whose id names both types: `add_timestamp_duration`. */
const mixed = (verb: string, left: CelType, right: CelType, result: CelType): Overload =>
  overload(`${verb}_${word.get(left)}_${word.get(right)}`, [left, right], result)

const comparable: readonly (readonly [CelType, CelType])[] = [
  [boolType, boolType],
  [intType, intType],
  [intType, doubleType],
  [intType, uintType],
  [uintType, uintType],
  [uintType, doubleType],
  [uintType, intType],
  [doubleType, doubleType],
  [doubleType, intType],
  [doubleType, uintType],
  [stringType, stringType],
  [bytesType, bytesType],
  [timestampType, timestampType],
  [durationType, durationType],
]

const comparison = (name: string, verb: string): FunctionDeclaration =>
  declare(
    name,
    ...comparable.map(([left, right]) => {
      const types = left === right ? word.get(left) : `${word.get(left)}_${word.get(right)}`
      return overload(`${verb}_${types}`, [left, right], boolType)
    }),
  )

/**
 * `less_int64_double` and the like: comparisons of an int, a uint or a double with another of these
 * types.
 */
export const crossTypeComparison =
  /^(less|greater)(_equals)?_(int64|uint64|double)_(int64|uint64|double)$/

const conversion = (name: string, result: CelType, ...from: CelType[]): FunctionDeclaration =>
  declare(
    name,
    ...from.map((type) => overload(`${word.get(type)}_to_${word.get(result)}`, [type], result)),
  )

/** A part of a timestamp, in UTC or in a zone; hours and smaller are also parts of a duration. */
const timePart = (name: string, part: string, zoned: string, duration?: string) =>
  declare(
    name,
    member(`timestamp_to_${part}`, [timestampType], intType),
    member(`timestamp_to_${zoned}`, [timestampType, stringType], intType),
    ...(duration === undefined ? [] : [member(`duration_to_${duration}`, [durationType], intType)]),
  )

export const standardFunctions: readonly FunctionDeclaration[] = [
  declare('_?_:_', overload('conditional', [boolType, a, a], a)),
  declare('_&&_', overload('logical_and', [boolType, boolType], boolType)),
  declare('_||_', overload('logical_or', [boolType, boolType], boolType)),
  declare('!_', overload('logical_not', [boolType], boolType)),
  declare('@not_strictly_false', overload('not_strictly_false', [boolType], boolType)),
  declare('_==_', overload('equals', [a, a], boolType)),
  declare('_!=_', overload('not_equals', [a, a], boolType)),
  declare(
    '_+_',
    same('add', bytesType),
    same('add', doubleType),
    mixed('add', durationType, durationType, durationType),
    mixed('add', durationType, timestampType, timestampType),
    mixed('add', timestampType, durationType, timestampType),
    same('add', intType),
    overload('add_list', [listOfA, listOfA], listOfA),
    same('add', stringType),
    same('add', uintType),
  ),
  declare('_/_', same('divide', doubleType), same('divide', intType), same('divide', uintType)),
  declare('_%_', same('modulo', intType), same('modulo', uintType)),
  declare(
    '_*_',
    same('multiply', doubleType),
    same('multiply', intType),
    same('multiply', uintType),
  ),
  declare(
    '-_',
    overload('negate_double', [doubleType], doubleType),
    overload('negate_int64', [intType], intType),
  ),
  declare(
    '_-_',
    same('subtract', doubleType),
    mixed('subtract', durationType, durationType, durationType),
    same('subtract', intType),
    mixed('subtract', timestampType, durationType, timestampType),
    mixed('subtract', timestampType, timestampType, durationType),
    same('subtract', uintType),
  ),
  comparison('_<_', 'less'),
  comparison('_<=_', 'less_equals'),
  comparison('_>_', 'greater'),
  comparison('_>=_', 'greater_equals'),
  declare(
    '_[_]',
    overload('index_list', [listOfA, intType], a),
    overload('index_map', [mapOfAB, a], b),
  ),
  declare(
    '@in',
    overload('in_list', [a, listOfA], boolType),
    overload('in_map', [a, mapOfAB], boolType),
  ),
  declare(
    'size',
    overload('size_bytes', [bytesType], intType),
    member('bytes_size', [bytesType], intType),
    overload('size_list', [listOfA], intType),
    member('list_size', [listOfA], intType),
    overload('size_map', [mapOfAB], intType),
    member('map_size', [mapOfAB], intType),
    overload('size_string', [stringType], intType),
    member('string_size', [stringType], intType),
  ),
  declare('type', overload('type', [a], typeOf(a))),
  conversion('bool', boolType, boolType, stringType),
  conversion('bytes', bytesType, bytesType, stringType),
  conversion('double', doubleType, doubleType, intType, stringType, uintType),
  conversion('duration', durationType, durationType, stringType),
  declare('dyn', overload('to_dyn', [a], dynType)),
  conversion(
    'int',
    intType,
    intType,
    doubleType,
    durationType,
    stringType,
    timestampType,
    uintType,
  ),
  conversion(
    'string',
    stringType,
    stringType,
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    timestampType,
    uintType,
  ),
  conversion('timestamp', timestampType, timestampType, intType, stringType),
  conversion('uint', uintType, uintType, doubleType, intType, stringType),
  declare('contains', member('contains_string', [stringType, stringType], boolType)),
  declare('endsWith', member('ends_with_string', [stringType, stringType], boolType)),
  declare('startsWith', member('starts_with_string', [stringType, stringType], boolType)),
  declare(
    'matches',
    overload('matches', [stringType, stringType], boolType),
    member('matches_string', [stringType, stringType], boolType),
  ),
  timePart('getFullYear', 'year', 'year_with_tz'),
  timePart('getMonth', 'month', 'month_with_tz'),
  timePart('getDayOfYear', 'day_of_year', 'day_of_year_with_tz'),
  timePart('getDayOfMonth', 'day_of_month', 'day_of_month_with_tz'),
  timePart('getDate', 'day_of_month_1_based', 'day_of_month_1_based_with_tz'),
  timePart('getDayOfWeek', 'day_of_week', 'day_of_week_with_tz'),
  timePart('getHours', 'hours', 'hours_with_tz', 'hours'),
  timePart('getMinutes', 'minutes', 'minutes_with_tz', 'minutes'),
  timePart('getSeconds', 'seconds', 'seconds_tz', 'seconds'),
  timePart('getMilliseconds', 'milliseconds', 'milliseconds_with_tz', 'milliseconds'),
]

/** Names of types are identifiers: `type(x) == int`, `type(d) == google.protobuf.Duration`. */
export const standardTypes: readonly CelType[] = [
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listOfA,
  mapOfAB,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
]
