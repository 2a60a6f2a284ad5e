import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  formatType,
  intType,
  listOf,
  mapOf,
  nullType,
  stringType,
  uintType,
} from '#cel/cel-type.ts'
import {
  crossTypeComparison,
  standardFunctions,
  standardTypes,
} from '#cel/declarations/standard.ts'
import { standardMacros } from '#cel/parse/macros.ts'
import { macrosByKey, parse } from '#cel/parse/parse.ts'
import { type CheckEnvironment, mergeFunctions } from './declared-names.ts'
import { check } from './check.ts'

const options = {
  macros: macrosByKey(standardMacros),
  optionalSyntax: false,
  escapedIdentifiers: false,
}
const types = new Map(standardTypes.map((type) => [type.name, type]))
const names: [string, CelType][] = [
  ['is', stringType],
  ['ii', intType],
  ['iu', uintType],
  ['iz', boolType],
  ['id', doubleType],
  ['ix', nullType],
  ['ib', bytesType],
]
const environment: CheckEnvironment = {
  container: '',
  variables: new Map(),
  functions: mergeFunctions(standardFunctions),
  provider: { findType: (name) => types.get(name), findField: () => undefined },
  homogeneousLiterals: false,
  isDisabled: ({ id }) => crossTypeComparison.test(id),
}

/** The errors of the check. */
function outcome(expression: string, environment: CheckEnvironment): string {
  const result = parse(expression, options)
  assert.ok('parsed' in result, expression)
  const checked = check(result.parsed, environment)
  assert.ok('errors' in checked, expression)
  return result.source.format(checked.errors).replaceAll('<input>', '').replaceAll('\t', ' ')
}

const withNames = { ...environment, variables: new Map(names) }

/** Expressions of Kubernetes: literals of one type, comparisons across number types. */
const strict: CheckEnvironment = {
  ...environment,
  variables: new Map([
    ...names,
    ['li', listOf(intType)],
    ['ms', mapOf(stringType, stringType)],
    ['self', { kind: 'struct', name: 'Self', parameters: [], nullable: false }],
  ]),
  provider: {
    findType: (name) =>
      name === 'Self' ? { kind: 'struct', name, parameters: [], nullable: false } : types.get(name),
    findField: (_type, field) => (field === 'size' ? intType : undefined),
  },
  homogeneousLiterals: true,
  isDisabled: () => false,
}

const rows: [environment: CheckEnvironment, expression: string, message: string][] = [
  [withNames, 'ii + is', "1:4: found no matching overload for '_+_' applied to '(int, string)'"],
  [withNames, 'ii < id', "1:4: found no matching overload for '_<_' applied to '(int, double)'"],
  [withNames, 'is.nothing()', "1:11: undeclared reference to 'nothing' (in container '')"],
  [withNames, 'is.field', "1:3: type 'string' does not support field selection"],
  [withNames, 'ii && true', "1:1: expected type 'bool' but found 'int'"],
  [
    withNames,
    'ii.all(x, true)',
    "1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  [strict, 'ii == 1.0', "1:4: found no matching overload for '_==_' applied to '(int, double)'"],
  [strict, "[1, 'a']", "1:5: expected type 'int' but found 'string'"],
  [strict, 'self.sizes', "1:5: undefined field 'sizes'"],
  [strict, 'li.all(x, x)', "1:11: expected type 'bool' but found 'int'"],
  [
    strict,
    "ms['a'].size() + '1'",
    "1:16: found no matching overload for '_+_' applied to '(int, string)'",
  ],
  [
    strict,
    'is.startsWith(1)',
    "1:14: found no matching overload for 'startsWith' applied to 'string.(int)'",
  ],
]

for (const [environment, expression, message] of rows)
  test(`rejects ${expression}`, () => {
    const [first] = outcome(expression, environment).split('\n')
    assert.equal(first, `ERROR: :${message}`)
  })

const accepted: [expression: string, type: string][] = [
  ['ii < id', 'bool'],
  ['ii >= iu', 'bool'],
  ['li.map(x, [x, x + 1])', 'list(list(int))'],
  ['ms.map(key, ms[key])', 'list(string)'],
  ['[]', 'list(dyn)'],
  ['true ? [] : [1]', 'list(int)'],
  ['self.size', 'int'],
  ['type(ii)', 'type(int)'],
  ['type(ii) == int', 'bool'],
  ['{"a": dyn(1)}', 'map(string, dyn)'],
  ["timestamp('2020-01-01T00:00:00Z') - duration('1h')", 'timestamp'],
]

for (const [expression, type] of accepted)
  test(`the type of ${expression}`, () => {
    const result = parse(expression, options)
    assert.ok('parsed' in result)
    const checked = check(result.parsed, strict)
    assert.ok('checked' in checked)
    assert.equal(formatType(checked.type), type)
  })
