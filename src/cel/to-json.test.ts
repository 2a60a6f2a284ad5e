/** Values of expressions as JSON, and types that are not in their place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import { activationOf, compile, Issues } from './compile.ts'
import { celEnvironment } from './environment.ts'
import { findPatchField, findPatchType, makePatchValue } from './patch-types.ts'
import { misplacedTypes, NoJson, toJson } from './to-json.ts'
import { CelError, StructValue, type Value } from './values.ts'

function valueOf(text: string): Value {
  const compiled = compile(text, celEnvironment(releaseOf(37), 'stored'), {
    variables: new Map(),
    types: { findType: findPatchType, findField: findPatchField },
    makeStruct: makePatchValue,
  })
  if (compiled instanceof Issues) throw new Error(compiled.text)
  return compiled.program().evaluate(activationOf({})).value
}

for (const [text, json] of [
  ['null', null],
  ["[dyn(1), dyn(2u), dyn(1.5), dyn('x'), dyn(true)]", [1, 2, 1.5, 'x', true]],
  ["{'a': {'__proto__': 1}}", JSON.parse('{"a":{"__proto__":1}}')],
  ['Object{a: Object.a{b: [1]}, ?c: optional.none(), d: optional.of(2)}', { a: { b: [1] }, d: 2 }],
  ['Object{a: Object.a{b: 1}}.a', { b: 1 }],
  ["timestamp('2020-01-02T03:04:05Z')", '2020-01-02T03:04:05Z'],
  ["duration('90s')", '90s'],
  ["b'abc'", 'YWJj'],
] as const)
  test(text, () => assert.deepEqual(toJson(valueOf(text)), json))

for (const text of ['{1: 2}', "quantity('1')", '1.0 / 0.0'])
  test(`${text} has no JSON`, () => assert.throws(() => toJson(valueOf(text)), NoJson))

for (const [text, expected] of [
  ['Object{a: Object.a{b: [Object.a.b{c: 1}]}}', undefined],
  [
    'Object{a: Object.b{}}',
    'unexpected type name "Object.b", expected "Object.a", which matches field name path from root Object type',
  ],
  [
    'Object{a: {"x": Object.a.x{}}}',
    'unexpected type name "Object.a.x", expected "Object.a", which matches field name path from root Object type',
  ],
] as const)
  test(`types in ${text}`, () => {
    const value = valueOf(text)
    assert.ok(value instanceof StructValue)
    assert.equal(misplacedTypes(value), expected)
  })

test('a patch whose path is a number fails', () => {
  const value = valueOf("JSONPatch{op: 'add', path: dyn(1)}")
  assert.ok(value instanceof CelError)
  assert.equal(value.message, "unexpected type int64 for JSONPatchType 'path' field")
})
