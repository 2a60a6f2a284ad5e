import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import {
  checkImmutable,
  checkNoBacksteps,
  isLabelSelector,
  listAsWritten,
  sameJson,
} from './checks.ts'

const path = FieldPath.of('x')

const same: [unknown, unknown, boolean][] = [
  [{ a: 1, b: [1] }, { b: [1], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined, c: null, d: [] }, true],
  [{ a: {} }, {}, false],
  [[1, 2], [2, 1], false],
  [{ a: '' }, {}, false],
  [10n, 10n, true],
]
for (const [a, b, expected] of same) {
  test(`sameJson ${String(JSON.stringify(a, (_, v) => (typeof v === 'bigint' ? `${v}` : v)))}`, () => {
    assert.equal(sameJson(a, b), expected)
    assert.equal(sameJson(b, a), expected)
  })
}

test('a key called __proto__ is compared like any other', () => {
  const odd = JSON.parse('{"__proto__":1}')
  assert.equal(sameJson(odd, {}), false)
  assert.equal(sameJson(odd, JSON.parse('{"__proto__":1}')), true)
})

test('absent and empty text are the same to an immutable field', () => {
  assert.deepEqual(checkImmutable('', undefined, path), [])
  assert.equal(checkImmutable('b', 'a', path)[0]?.message, 'Invalid value: "b": field is immutable')
})

test('a path must not climb', () => {
  assert.deepEqual(checkNoBacksteps('/a/..b/c', path), [])
  assert.equal(checkNoBacksteps('/a/../c', path).length, 1)
})

test('a selector with an unknown operator means nothing', () => {
  assert.ok(isLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }))
  assert.ok(!isLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Like' }] }))
})

test('a list written empty is told from none', () => {
  const holder = {}
  assert.equal(listAsWritten(holder, 'a'), undefined)
  rememberEmpty(holder, 'a')
  assert.deepEqual(listAsWritten(holder, 'a'), [])
})
