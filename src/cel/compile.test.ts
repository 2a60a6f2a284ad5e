import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import { dynType, intType } from './cel-type.ts'
import { activationOf, compile, Expression, Issues } from './compile.ts'
import { authorizerType } from './declarations/authorizer.ts'
import { celEnvironment, type EnvironmentKind } from './environment.ts'
import { jsonView } from './json-view.ts'
import { costExceeded } from './program.ts'
import { showValue } from './show-value.ts'

const variables = new Map([
  ['self', dynType],
  ['n', intType],
  ['authorizer', authorizerType],
])
const activation = activationOf({ self: jsonView({ items: [1, 2, 3], s: 'abc' }), n: 5n })

const compiled = (text: string, minor = 37, kind: EnvironmentKind = 'stored') =>
  compile(text, celEnvironment(releaseOf(minor), kind), { variables })

function evaluated(text: string): string {
  const expression = compiled(text)
  assert.ok(expression instanceof Expression, text)
  const { value, cost } = expression.program().evaluate(activation, 1_000_000)
  const { min, max } = expression.estimate()
  return `${showValue(value)}: ${expression.typeText}, cost ${cost} of ${min} to ${max}`
}

const rows: readonly (readonly [text: string, result: string])[] = [
  ['n + 1 == 6', 'true: bool, cost 3 of 3 to 3'],
  ["self.s.find('a.')", 'ab: string, cost 3 of 2 to 1844674407370955300'],
  ['[1, 2].includes(1)', 'true: bool, cost 2 of 12 to 12'],
  ["{'a': 1}.transformList(k, v, v + n)", '[6]: list(int), cost 16 of 56 to 56'],
]

for (const [text, result] of rows)
  test(`evaluates ${text}`, () => {
    assert.equal(evaluated(text), result)
  })

const rejected: readonly (readonly [text: string, message: string])[] = [
  ["[1, 'a']", "1:5: expected type 'int' but found 'string'"],
  ["self.s.matches('[')", '1:16: invalid matches argument'],
  ["duration('x')", '1:10: invalid duration argument'],
  ["timestamp('x')", '1:11: invalid timestamp argument'],
  [
    "'%d'.format(['b'])",
    '1:14: error during formatting: decimal clause can only be used on integers, was given string',
  ],
  ["'%d'.format([1, 2])", '1:12: too many arguments supplied to string.format (expected 1, got 2)'],
  ["'%s %s'.format([1])", '1:15: index 1 out of range'],
]

for (const [text, message] of rejected)
  test(`rejects ${text}`, () => {
    const issues = compiled(text)
    assert.ok(issues instanceof Issues)
    assert.equal(issues.text.split('\n')[0], `ERROR: <input>:${message}`)
  })

test('elements of several types are allowed for format()', () => {
  assert.ok(compiled("'%s %d'.format(['a', 1])") instanceof Expression)
})

/** The first release whose new and whose stored expressions can use something. */
const added: readonly (readonly [text: string, created: number, stored: number])[] = [
  ["quantity('1').isInteger()", 29, 28],
  ['self.?a.hasValue()', 29, 28],
  ['n < 1.5', 29, 28],
  ["sets.contains([1], [1]) && '%d'.format([1]) == '1'", 30, 29],
  ["isIP('::1') && isCIDR('::/0')", 31, 30],
  ["format.dns1123Label().validate('a').hasValue()", 32, 31],
  ['self.items.all(i, v, v > i)', 33, 32],
  ["isSemver('1.0.0')", 34, 33],
  ['[2, 1].sort() == [1, 2]', 35, 34],
  ['[1].includes(1)', 38, 37],
  ['[1].existsOne(i, v, v > 0)', 33, 32],
  ['type(optional.none()) == optional_type', 31, 31],
]

for (const [text, created, stored] of added)
  test(`a new ${text} since 1.${created}, a stored one since 1.${stored}`, () => {
    const compiles = (minor: number, kind: EnvironmentKind) =>
      compiled(text, minor, kind) instanceof Expression
    assert.equal(compiles(created - 1, 'new'), false)
    assert.equal(compiles(created, 'new'), true)
    assert.equal(compiles(stored - 1, 'stored'), false)
    assert.equal(compiles(stored, 'stored'), true)
  })

/** The last release without a function, the first with it, and the error before. */
const libraries: readonly (readonly [text: string, last: number, first: number, why: string])[] = [
  ["authorizer.path('/x').check('get').allowed()", 26, 27, "undeclared reference to 'path'"],
  ['[1].includes(1)', 36, 37, "undeclared reference to 'includes'"],
]

for (const [text, last, first, why] of libraries)
  test(`${text} compiles since 1.${first}`, () => {
    const before = compiled(text, last)
    assert.ok(before instanceof Issues)
    assert.ok(before.text.includes(why), before.text)
    assert.ok(compiled(text, first) instanceof Expression)
  })

test('cost stops an evaluation', () => {
  const expression = compiled('self.items.all(x, self.items.all(y, x * y > 0))')
  assert.ok(expression instanceof Expression)
  const { value, cost } = expression.program().evaluate(activation, 20)
  assert.equal(value, costExceeded)
  assert.ok(cost > 20 && cost < 30)
})

/** Estimates and messages before and since a release. */
const firstLine = (text: string, minor: number): string => {
  const one = compiled(text, minor)
  if (one instanceof Issues) return (one.text.split('\n')[0] as string).replace(/^.*?: /, '')
  return String(one.estimate().max > 1e9)
}
const changes: readonly (readonly [text: string, since: number, before: string, now: string])[] = [
  ["self.l[?0] == 'x'", 28, '', "unsupported syntax '[?'"],
  ['self.?a == 1', 28, "extraneous input '?' expecting IDENTIFIER", "unsupported syntax '.?'"],
  ['true && self.nope(1)', 29, "applied to '(bool, <nil>)'", "undeclared reference to 'nope'"],
  [
    "'a'.b == 1",
    29,
    "type 'primitive:STRING' does not support field selection",
    "type 'string' does not support field selection",
  ],
  ["['a', 'b'].map(x, x).exists(y, y == 'a')", 29, 'true', 'false'],
  ["quantity('1').add(1) == quantity('2')", 32, 'true', 'false'],
]
for (const [text, since, before, now] of changes)
  test(`${text} before and since 1.${since}`, () => {
    const [old, current] = [firstLine(text, since - 1), firstLine(text, since)]
    assert.ok(old.includes(before) && old !== current, old)
    if (!now.startsWith('unsupported')) assert.ok(current.includes(now), current)
  })

test('calls that no overload takes, before and since 1.29', () => {
  const message = (text: string, minor: number) => {
    const one = compiled(text, minor)
    assert.ok(one instanceof Expression)
    return showValue(one.program().evaluate(activation).value)
  }
  const startsWith = 'dyn(1).startsWith("a")'
  assert.deepEqual(
    [message(startsWith, 28), message(startsWith, 29)],
    ['no such overload: startsWith', 'no such overload'],
  )
  const index = '[true, false][n]'
  assert.deepEqual(
    [message(index, 27), message(index, 28)],
    ["index '5' out of range in list size '2'", 'index out of bounds: 5'],
  )
  const trim = 'dyn(1).trim()'
  assert.deepEqual(
    [message(trim, 28), message(trim, 29)],
    ['no such overload: trim', 'no such overload: trim(int)'],
  )
})

/** What kube-apiserver does, beside what a reader expects. */
const surprises: readonly (readonly [text: string, result: string])[] = [
  ["quantity('1000m').isInteger()", 'false'],
  ["quantity('1').add(1) == quantity('2')", 'true'],
  ["quantity('2') == quantity('1').add(1)", 'no such overload'],
  ["[quantity('1').add(1)].all(x, x == x)", 'no such overload'],
  ["cidr('10.0.0.0/8').containsIP('x')", 'no such overload'],
  ['self.nope.sort().size() == 0 || true', 'true'],
  [
    'self.nope.distinct().size() == 0 || true',
    'internal error: interface conversion: *types.Err is not traits.Lister: missing method Add',
  ],
  ['true || [1, 2].sortBy(x, x / 0)[0] == 1', 'true'],
  ['has(self.?nope.deeper)', 'false'],
  ['dyn(0).sort().sum()', 'no such overload: sort'],
  ["dyn(cidr('10.0.0.0/8')) == dyn(1)", 'no such overload'],
  ['self.?items.nope.hasValue()', "unsupported index type 'string' in list"],
]
for (const [text, result] of surprises)
  test(`${text} is ${result.slice(0, 20)}`, () => {
    const one = compiled(text)
    assert.ok(one instanceof Expression, text)
    assert.equal(showValue(one.program().evaluate(activation).value), result)
  })

/** Constants that no map or list can have as a key or index. */
const badKeys: readonly (readonly [text: string, type: string])[] = [
  ['self.items[dyn(null)]', 'types.Null'],
  ["self.items[dyn(b'a')]", 'types.Bytes'],
  ["self.items[dyn(duration('1h'))]", 'types.Duration'],
  ["self.items[dyn(timestamp('2020-01-01T00:00:00Z'))]", 'types.Timestamp'],
  ['self.items[dyn([1])]', '*types.baseList'],
  ["self.items[dyn({'a': 1})]", '*types.baseMap'],
  ['self.items[dyn(int)]', '*types.Type'],
]
for (const [text, type] of badKeys)
  test(`${text} makes no program`, () => {
    const one = compiled(`${text} == 1`)
    assert.ok(one instanceof Expression, text)
    assert.throws(() => one.program(), { message: `invalid qualifier type: ${type}` })
  })
