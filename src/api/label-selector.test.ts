import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from './field-path.ts'
import { validateLabelSelector } from './label-rules.ts'
import {
  formatLabelSelector,
  formatLabels,
  formatSelector,
  labelMatcher,
  matchesLabels,
  parseLabelSelector,
  selectorOf,
  selectorOfMap,
} from './label-selector.ts'

const labels = { a: 'b', n: '5', x: '', constructor: 'yes' }

const matching: [string, boolean, string][] = [
  // text                 matches  printed
  ['', true, ''],
  ['a=b', true, 'a=b'],
  ['a==b', true, 'a==b'],
  ['a != b', false, 'a!=b'],
  ['q!=b', true, 'q!=b'],
  ['a in (c,b)', true, 'a in (b,c)'],
  ['a notin (c,b)', false, 'a notin (b,c)'],
  ['q notin (c)', true, 'q notin (c)'],
  ['a', true, 'a'],
  ['!a', false, '!a'],
  ['!toString', true, '!toString'],
  ['constructor=yes', true, 'constructor=yes'],
  ['n>4', true, 'n>4'],
  ['n<4', false, 'n<4'],
  ['a>4', false, 'a>4'],
  ['x=', true, 'x='],
  ['x,a=b', true, 'a=b,x'],
  ['x in ()', true, 'x in ()'],
  ['x in (,)', true, 'x in ()'],
  ['in in (in,notin)', false, 'in in (in,notin)'],
  ['x in (foo,,baz),a', true, 'a,x in (,baz,foo)'],
]
for (const [text, matches, printed] of matching) {
  test(`selector ${JSON.stringify(text)}`, () => {
    const selector = parseLabelSelector(text)
    assert.equal(matchesLabels(selector, labels), matches)
    assert.equal(formatSelector(selector), printed)
  })
}

const part =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const value =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const refused: [string, string][] = [
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['=a', "found '=', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
  ['a==(', "unable to parse requirement: found '(', expected: identifier"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['-a', `unable to parse requirement: <nil>: Invalid value: "-a": ${part}`],
  ['a=-', `unable to parse requirement: values[0][a]: Invalid value: "-": ${value}`],
  [
    'a>b',
    "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
]
for (const [text, message] of refused) {
  test(`selector ${JSON.stringify(text)} is refused`, () =>
    assert.throws(() => parseLabelSelector(text), { message }))
}

test('selector objects', () => {
  assert.equal(matchesLabels(selectorOf(undefined), {}), false)
  assert.equal(matchesLabels(selectorOf({}), {}), true)
  const object = {
    matchLabels: { b: '1', a: '2' },
    matchExpressions: [{ key: 'c', operator: 'In', values: ['y', 'x'] }],
  }
  assert.equal(formatLabelSelector(object), 'a=2,b=1,c in (x,y)')
  assert.equal(formatLabelSelector(undefined), '<none>')
  assert.equal(formatLabelSelector({ matchExpressions: [{ key: 'a', operator: 'x' }] }), '<error>')
  assert.equal(formatLabels({ b: '1', a: '2' }), 'a=2,b=1')
  assert.equal(formatLabels(undefined), '<none>')
  assert.ok(matchesLabels(selectorOfMap({}), { z: '' }))
})

test('the error for an invalid selector object', () => {
  const errors = validateLabelSelector(
    {
      matchLabels: { 'a b': 'c' },
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: ['b'] },
        { key: '', operator: '' },
      ],
    },
    FieldPath.of('spec', 'selector'),
  )
  assert.deepEqual(
    errors.map((error) => [error.field, error.message.slice(0, 60)]),
    [
      ['spec.selector.matchLabels', `Invalid value: "a b": ${part}`.slice(0, 60)],
      [
        'spec.selector.matchExpressions[0].values',
        "Required value: must be specified when `operator` is 'In' or 'NotIn'".slice(0, 60),
      ],
      [
        'spec.selector.matchExpressions[1].values',
        "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'".slice(
          0,
          60,
        ),
      ],
      [
        'spec.selector.matchExpressions[2].operator',
        'Invalid value: "": not a valid selector operator',
      ],
      ['spec.selector.matchExpressions[2].key', 'Invalid value: "": name part must be non-empty'],
      ['spec.selector.matchExpressions[2].key', `Invalid value: "": ${part}`.slice(0, 60)],
    ],
  )
})

test('a compiled selector matches like an interpreted one', () => {
  const labels = [undefined, {}, { a: 'b' }, { a: 'c', d: 'e' }, JSON.parse('{"__proto__":"b"}')]
  for (const text of [
    'a',
    'a=b',
    'a!=b',
    'a in (b,c),d',
    'a notin (b)',
    '!a',
    'constructor=b',
    'toString=b',
    'a=b,d=e',
  ]) {
    const selector = parseLabelSelector(text)
    const matches = labelMatcher(selector)
    for (const one of labels) assert.equal(matches(one), matchesLabels(selector, one), text)
  }
})
