import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { decodeYaml, encodeYaml, parseYaml } from './yaml.ts'
import { YamlError } from './yaml-error.ts'

const values: [string, Json][] = [
  ['', null],
  ['null', null],
  ['[]', []],
  ['{"a": [1e400, -1e400, 1e300]}', { a: ['1e400', '-1e400', 1e300] }],
  ['{"a": {"b": [1, "x", null]}}', { a: { b: [1, 'x', null] } }],
  [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {k: v}\n',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { k: 'v' } },
  ],
  [
    'a: yes\nb: No\nc: on\nd: OFF\ne: y\nf: "yes"\ng: ~\nh:',
    { a: true, b: false, c: true, d: false, e: true, f: 'yes', g: null, h: null },
  ],
  [
    'a: 0777\nb: 1_000\nc: 0x1F\nd: 0b11\ne: -5\nf: 1.5e3\ng: .5\nh: 12:30\ni: 1e3',
    { a: 511, b: 1000, c: 31, d: 3, e: -5, f: 1500, g: 0.5, h: '12:30', i: 1000 },
  ],
  [
    'a: 2001-01-01\nb: 2021-08-04T18:00:00Z\nc: 1.2.3\nd: 08',
    { a: '2001-01-01', b: '2021-08-04T18:00:00Z', c: '1.2.3', d: 8 },
  ],
  ['1: x\ntrue: z\n1.5: w', { 1: 'x', true: 'z', 1.5: 'w' }],
  ['a: !!str 1\nb: !foo bar\nc: !!binary aGk=\nd: !!int "3"', { a: '1', b: 'bar', c: 'hi', d: 3 }],
  [
    'a: !!timestamp 2021-01-01\nb: !!omap [c: 1]\nd: !!pairs [c: 1, c: 2]\ne: !!set {f}',
    { a: '2021-01-01', b: [{ c: 1 }], d: [{ c: 1 }, { c: 2 }], e: { f: null } },
  ],
  [
    'a: !!timestamp 2001-1-2\nb: !!timestamp "2001-12-14 1:2:3.4"\nc: !!timestamp 2001-12-14t21:59:43-05:00',
    { a: '2001-1-2', b: '2001-12-14 1:2:3.4', c: '2001-12-14t21:59:43-05:00' },
  ],
  [
    'a: {!!str <<: x}\nb: {! <<: {c: d}}\ne: {!!merge <<: {f: g}}',
    { a: { '<<': 'x' }, b: { c: 'd' }, e: { f: 'g' } },
  ],
  ['base: &b {x: 1, z: 2}\nuse: {<<: *b, z: 3}', { base: { x: 1, z: 2 }, use: { x: 1, z: 3 } }],
  ['{a: 1, <<: {a: 2, b: 3}}', { a: 2, b: 3 }],
  ['{<<: {a: 2, b: 3}, <<: {b: 4}, a: 1}', { a: 1, b: 4 }],
  ['{a: 0, <<: [{a: 1}, {a: 2, b: 3}]}', { a: 1, b: 3 }],
  ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
  ['a:\n  b: "x\ny\n\tz"\n  c: d', { a: { b: 'x y z', c: 'd' } }],
  ["a:\n  - 'x\n\ny'\n  - z", { a: ['x\ny', 'z'] }],
  ['a:\n  b: {c: d,\ne: [f,\n\tg\n]\n}\nh: i', { a: { b: { c: 'd', e: ['f', 'g'] } }, h: 'i' }],
  ['%YAML 1.1 # one\n%TAG ! tag:x,2000:\n---\na: b\n---\n%YAML 9.9\n', { a: 'b' }],
  ['a: 1\na: 2', { a: 2 }],
  ['a: b\n---\nc: d', { a: 'b' }],
  ['a: |\n  one\n  two\n', { a: 'one\ntwo\n' }],
  ['a: |\n  one\n  two', { a: 'one\ntwo' }],
  ['a: |+\n  one\n\n  # two', { a: 'one\n\n# two' }],
  ['a: >\n  one\n  two', { a: 'one two' }],
  ['a: |\n  one\n    ', { a: 'one\n  ' }],
  ['a: |\n  one\n  ', { a: 'one\n' }],
  ['a: |+\n  one\n\n ', { a: 'one\n\n' }],
  ['a: |+\n  one\n  ', { a: 'one\n' }],
  ['a: |+\n\n  ', { a: '\n' }],
  ['a: |\n  one\n# two', { a: 'one\n' }],
  ['a: |', { a: '' }],
  ['a: 9223372036854775807', { a: 9223372036854775807n as never }],
]
for (const [text, expected] of values) {
  test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parseYaml(text), expected))
}

const faults: [string, string][] = [
  ['{', 'yaml: line 1: did not find expected node content'],
  ['[', 'yaml: line 1: did not find expected node content'],
  ['{a: b', "yaml: line 1: did not find expected ',' or '}'"],
  ['key: [1,2', "yaml: line 1: did not find expected ',' or ']'"],
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['a: b\n c: d\n', 'yaml: line 2: mapping values are not allowed in this context'],
  ['foo\nbar: baz', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a:\n\t- b', 'yaml: line 2: found character that cannot start any token'],
  ['a: @b', 'yaml: found character that cannot start any token'],
  ['- a\nb: c', "yaml: line 1: did not find expected '-' indicator"],
  ['"abc', 'yaml: found unexpected end of stream'],
  ['a: "x\n', 'yaml: line 2: found unexpected end of stream'],
  ['"a\\qb"', 'yaml: found unknown escape character'],
  ['a: *x', "yaml: unknown anchor 'x' referenced"],
  ['a: &x [*x]', "yaml: anchor 'x' value contains itself"],
  ['? - a\n: b', 'yaml: invalid map key'],
  ['a: &x [{b: c}]\nd: {<<: *x}', 'yaml: map merge requires map or sequence of maps as the value'],
  ['a: .inf', 'json: unsupported value: +Inf'],
  ['a: -.inf', 'json: unsupported value: -Inf'],
  ['a: .nan', 'json: unsupported value: NaN'],
  ['a: !!binary aGk', 'yaml: !!binary value contains invalid base64 data'],
  ['a: !!timestamp b', 'yaml: cannot decode !!str `b` as a !!timestamp'],
  ['a: !!timestamp 5', 'yaml: cannot decode !!int `5` as a !!timestamp'],
  ['a: !!timestamp 2001-02-30', 'yaml: cannot decode !!str `2001-02-30` as a !!timestamp'],
  ['a: !!int 12.5', 'yaml: cannot decode !!float `12.5` as a !!int'],
  ['a: !!int 1.0', 'yaml: cannot decode !!float `1.0` as a !!int'],
  ['a: !!bool ""', 'yaml: cannot decode !!null `` as a !!bool'],
  ['%YAML 1.2\n---\na: b', 'yaml: found incompatible YAML document'],
  ['# a\n%YAML 2.0\n---\na: b', 'yaml: line 1: found incompatible YAML document'],
  ['%YAML 1.1\n%YAML 1.1\n---\na: b', 'yaml: line 1: found duplicate %YAML directive'],
  ['%TAG !x! a\n%TAG !x! b\n---\na: b', 'yaml: line 1: found duplicate %TAG directive'],
  ['%YAML\n---\na: b', 'yaml: did not find expected version number'],
  ['%YAML 1\n---\na: b', "yaml: did not find expected digit or '.' character"],
  ['%YAML 1.1 x\n---\na: b', 'yaml: did not find expected comment or line break'],
  ['%TAG x y\n---\na: b', "yaml: did not find expected '!'"],
  ['%TAG !\n---\na: b', 'yaml: did not find expected whitespace'],
  ['# a\n%FOO x\n---\na: b', 'yaml: line 2: found unknown directive name'],
  ['% FOO\n---\na: b', 'yaml: could not find expected directive name'],
  ['%FOO: x\n---\na: b', 'yaml: found unexpected non-alphabetical character'],
  ['a: \x01', 'yaml: control characters are not allowed'],
  ['a: "\x7f"', 'yaml: control characters are not allowed'],
  ['a: b # \x80', 'yaml: control characters are not allowed'],
]
for (const [text, message] of faults) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseYaml(text),
      (error) => error instanceof YamlError && error.message === message,
    )
  })
}

const octets: [bytes: number[], message: string][] = [
  [[0xff], 'invalid leading UTF-8 octet'],
  [[0x80], 'invalid leading UTF-8 octet'],
  [[0xf8, 0x88, 0x80, 0x80, 0x80], 'invalid leading UTF-8 octet'],
  [[0xe2, 0x28, 0xa1], 'invalid trailing UTF-8 octet'],
  [[0xe2, 0x82], 'incomplete UTF-8 octet sequence'],
  [[0xc0, 0x80], 'invalid length of a UTF-8 sequence'],
  [[0xed, 0xa0, 0x80], 'invalid Unicode character'],
  [[0xf4, 0x90, 0x80, 0x80], 'invalid Unicode character'],
]
for (const [bytes, message] of octets) {
  test(`refuses ${Buffer.from(bytes).toString('hex')}`, () => {
    assert.throws(
      () => decodeYaml(Buffer.concat([Buffer.from('a: é '), Buffer.from(bytes)])),
      (error) => error instanceof YamlError && error.message === `yaml: ${message}`,
    )
  })
}

test('aliases cannot multiply a document', () => {
  let text = 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n'
  for (let i = 1; i < 9; i++) text += `a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`)}]\n`
  assert.throws(() => parseYaml(text), { message: 'yaml: document contains excessive aliasing' })
})

test('the number of lexemes in a body is limited', () => {
  assert.throws(() => parseYaml('- '.repeat(130_000)), {
    message: 'yaml: document is too large, send it as JSON',
  })
})

test('integers are as exact as in JSON', () => {
  const value = parseYaml('a: 9223372036854775807\nb: 9223372036854775808\nc: 0xffffffffffffffff')
  assert.deepEqual(value, { a: 2n ** 63n - 1n, b: 2 ** 63, c: 2 ** 64 })
})

const named: [what: string, text: string, value: Json][] = [
  [
    'within the value of another alias',
    'o: &a 1\nx: &x {j: *a}\np: &a 2\nz: *x\n',
    { o: 1, x: { j: 1 }, p: 2, z: { j: 1 } },
  ],
  [
    'after an alias of what had it',
    'x: &x {k: &a 1}\np: &a 2\nz: *x\nw: *a\n',
    { x: { k: 1 }, p: 2, z: { k: 1 }, w: 2 },
  ],
]
for (const [what, text, value] of named)
  test(`an alias refers to the last anchor before it: ${what}`, () =>
    assert.deepEqual(parseYaml(text), value))

test('nesting has a limit', () => {
  for (const depth of [500, 20_000]) {
    const text = `a: ${'['.repeat(depth)}${']'.repeat(depth)}`
    assert.throws(() => parseYaml(text), { name: 'YamlError' })
  }
})

test('stored objects of any depth are written', () => {
  let value: Json = {}
  for (let depth = 1; depth < 310; depth++) value = { a: value }
  assert.equal(String(encodeYaml(value)).match(/a:/g)?.length, 309)
})

test('names of inherited members survive', () => {
  const value = parseYaml('data:\n  __proto__: a\n  constructor: b\n') as { data: object }
  assert.deepEqual(Object.keys(value.data), ['__proto__', 'constructor'])
})

test('written text is read back equal', () => {
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    data: { b: 'yes', a: 'one\ntwo\n', c: '08', d: 'null', e: '1e3', f: '' },
    list: [{ x: 1 }, []],
  }
  const text = encodeYaml(object).toString()
  assert.equal(
    text,
    'apiVersion: v1\ndata:\n  a: |\n    one\n    two\n  b: "yes"\n  c: "08"\n  d: "null"\n  e: "1e3"\n  f: ""\nkind: ConfigMap\nlist:\n- x: 1\n- []\n',
  )
  assert.deepEqual(parseYaml(text), object)
})
