/** Values and their YAML, recorded from kube-apiserver 1.22, byte for byte. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { keyOrder } from './yaml-key-order.ts'
import { encodeYaml, parseYaml } from './yaml.ts'
import { writeYaml } from './yaml-writer.ts'

const plain = [
  ...['a', 'a:b', ':a', 'a#b', '-a', '--', '?a', 'a,b', '_1', '1e', '..', 'inf', 'nan', '1:60'],
  ...['2001-13-01', '2001-02-30', '2001-12-14 21:59:43.10 -5', '2020-01-01T00:00:00', '1e400'],
  ...['+', '+a', '<<', '=', 'é', '日本語', '\u00a0', '\\', 'a\\b', 'tRUE', 'nULL', '0b2', "it's"],
  ...['a  b', 'say "x"', '.5_', '\ue000', 'x'.repeat(100), '2001-12-14T21:59:43.10+99:00'],
]
const single = ['-', '- a', '---', '...', ':', 'a:', 'a: b', '#', '#a', 'a #b', '?', '? a', '!a']
single.push('&a', '*a', '|', '>', '%a', '@a', '`a', '"', '[a', '{a}', ' a', 'a ', '  ', '{"a": 1}')
const double = ['', '~', 'null', 'Null', 'yes', 'No', 'on', 'OFF', 'y', 'N', 'true', 'False', '0']
double.push('-1', '+1', '0x1F', '0o17', '017', '08', '0b11', '-0b1', '1_000', '1__0', '1e3', '1.5')
double.push('.5', '.5_0', '5.', '.inf', '-.Inf', '.nan', '1:30', '12:30:45', '190:20:30.15', '-0')
double.push('2001-01-01', '2001-1-1', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43.10')
double.push('2020-01-01T00:00:00Z', '12345678901234567890', '123456789012345678901', '0.0', '0777')

const words = (count: number): string => Array(count).fill('word').join(' ')

const cases: [Json, string][] = [
  ...plain.map((text): [Json, string] => [text, text]),
  ...single.map((text): [Json, string] => [text, `'${text}'`]),
  ...double.map((text): [Json, string] => [text, `"${text}"`]),
  ["'", "''''"],
  ["a: 'b'", "'a: ''b'''"],
  ['a\tb', '"a\\tb"'],
  ['😀', '"\\U0001F600"'],
  ['a\ufeff', '"a\\uFEFF"'],
  ['\ufeffa', '"\\uFEFF\\x61"'],
  ['a\u0001b', '"a\\x01b"'],
  ['\u001b[0m', '"\\e[0m"'],
  ['a\u2028b', "'a\u2028  b'"],
  ['a\r\nb', '"a\\r\\nb"'],
  ['a\nb', '|-\n  a\n  b'],
  ['a\nb\n', '|\n  a\n  b'],
  ['a\n\nb\n\n', '|+\n  a\n\n  b\n'],
  ['\n', '|2+\n'],
  ['\na', '|2-\n\n  a'],
  [' a\nb', '|2-\n   a\n  b'],
  ['a\n  b\nc', '|-\n  a\n    b\n  c'],
  ['a \nb', '"a \\nb"'],
  ['a\tb\nc', '"a\\tb\\nc"'],
  ['trailing\n ', '"trailing\\n "'],
  ['#!/bin/sh\necho hi\n', '|\n  #!/bin/sh\n  echo hi'],
  [words(20), `${words(16)}\n  ${words(4)}`],
  [`a: ${words(20)}`, `'a: ${words(15)}\n  ${words(5)}'`],
  [`\t${words(20)}`, `"\\t${words(16)}\n  ${words(4)}"`],
  [`${'x'.repeat(90)}  y z`, `${'x'.repeat(90)}  y\n  z`],
  [`\t${'x'.repeat(90)}  y z`, `"\\t${'x'.repeat(90)}\n  \\ y z"`],
  [[], '[]'],
  [{}, '{}'],
  [null, 'null'],
  [true, 'true'],
  [-0.5, '-0.5'],
  [1e5, '100000'],
  [123456.7, '123456.7'],
  [1234567.8, '1.2345678e+06'],
  [1e20, '1e+20'],
  [1e300, '1e+300'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [9223372036854775807n as never, '9223372036854775807'],
]
for (const [value, expected] of cases) {
  test(`writes ${typeof value === 'bigint' ? value : JSON.stringify(value)}`, () => {
    assert.equal(writeYaml({ v: value }), `v: ${expected}\n`)
    // The text is read back equal; our parser does not treat the old line separators as line
    // breaks.
    const nested = { o: { list: [value, { v: value }] } }
    if (!String(value).includes('\u2028'))
      assert.deepEqual(parseYaml(writeYaml(nested as Json)), nested)
  })
}

const long = 'k'.repeat(129)
const documents: [string, Json, string][] = [
  [
    'lists and maps',
    { l: [1, [2, 'x'], { b: [], a: 'y' }], m: { p: { o: 1 } } },
    'l:\n- 1\n- - 2\n  - x\n- a: "y"\n  b: []\nm:\n  p:\n    o: 1\n',
  ],
  ['a key too long to be simple', { [long]: [1, { a: 2 }] }, `? ${long}\n: - 1\n  - a: 2\n`],
  ['a key of two lines', { 'a\nb': 1 }, '? |-\n  a\n  b\n: 1\n'],
  ['keys that need quotes', { yes: 1, '': 2, '- a': 3 }, '"": 2\n\'- a\': 3\n"yes": 1\n'],
]
for (const [name, value, text] of documents) {
  test(`writes ${name}`, () => assert.equal(encodeYaml(value).toString(), text))
}

const orders: [string, string[]][] = [
  ['numbers by value', ['a2', 'a10', 'a100']],
  ['letters last', ['', '-', '_', '1', 'A', 'B', 'a', 'é']],
  ['padding', ['a1', 'a01', 'a2', 'a02']],
  ['zeros within numbers', ['a9', 'a10', 'a90', 'a100']],
  ['prefixes first', ['a', 'a-', 'aa', 'ab']],
]
for (const [name, keys] of orders) {
  test(`orders keys: ${name}`, () => {
    assert.deepEqual(keys.toReversed().sort(keyOrder), keys)
  })
}
