import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invalid, showAsGo } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import {
  asGo,
  byCodePoint,
  goFloat,
  goFormat,
  goQuote,
  goStringMap,
  goStrings,
  goStruct,
  namesInOrder,
} from './go-syntax.ts'

const quoted: [string, string][] = [
  ['plain', '"plain"'],
  ['a"b\\', '"a\\"b\\\\"'],
  ['\n\t\u0007\u007f\u0000', '"\\n\\t\\a\\x7f\\x00"'],
  ['é鮽', '"é鮽"'],
  ['\u00a0\u200b\ufeff', '"\\u00a0\\u200b\\ufeff"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['\ud800', '"\ufffd"'],
]
for (const [text, expected] of quoted) {
  test(`quote ${JSON.stringify(text)}`, () => assert.equal(goQuote(text), expected))
}

const floats: [number, string][] = [
  [1e6, '1e+06'],
  [123456789, '1.23456789e+08'],
  [100000, '100000'],
  [999999.5, '999999.5'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [-1.5, '-1.5'],
  [0, '0'],
]
for (const [value, expected] of floats) {
  test(`float ${value}`, () => assert.equal(goFloat(value), expected))
}

test('values in messages', () => {
  assert.equal(showAsGo(undefined), '"null"')
  assert.equal(showAsGo(5), '5')
  assert.equal(
    showAsGo({ b: ['x', 1], a: null }),
    'map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{"x", 1}}',
  )
  const shown = asGo(
    goStruct('v1.X', [
      ['A', goStrings(['x'])],
      ['B', goStringMap(undefined)],
    ]),
  )
  assert.equal(
    invalid(FieldPath.of('a').index(1).child('b'), shown, 'why').message,
    'Invalid value: v1.X{A:[]string{"x"}, B:map[string]string(nil)}: why',
  )
})

test('strings are ordered by code point', () => {
  assert.deepEqual(['\u{1f600}', '\uffee', 'b', 'a', ''].sort(byCodePoint), [
    '',
    'a',
    'b',
    '\uffee',
    '\u{1f600}',
  ])
})

const maps: [what: string, names: string[], inOrder: string[]][] = [
  ['none', [], []],
  ['in order', ['a', 'ab', 'b'], ['a', 'ab', 'b']],
  ['in no order', ['b', 'ab', 'a'], ['a', 'ab', 'b']],
  ['the last two changed', ['a', 'c', 'b'], ['a', 'b', 'c']],
  ['beyond the usual letters', ['\u{1f600}', '\uffee'], ['\uffee', '\u{1f600}']],
]
for (const [what, names, inOrder] of maps) {
  test(`names of a map: ${what}`, () => {
    assert.deepEqual(namesInOrder(Object.fromEntries(names.map((name) => [name, 1]))), inOrder)
  })
}

test('a text used as a format', () => {
  const rows: [string, string][] = [
    ['nothing', 'nothing'],
    ['c:50% k:2', 'c:50%!k(MISSING):2'],
    ['100%% %5.2f', '100% %!f(MISSING)'],
    ['100%', '100%!(NOVERB)'],
  ]
  for (const [text, expected] of rows) assert.equal(goFormat(text), expected)
})
