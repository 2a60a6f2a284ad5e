import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import type { JsonMap } from './json-map.ts'
import { applyMergePatch as applyMergePatchIn } from './merge-patch.ts'

const applyMergePatch = (document: JsonMap, patch: Json, release = 22) =>
  applyMergePatchIn(document, patch, release)

const cases: [document: JsonMap, patch: Json, result: Json][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{}, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
  [{ a: [1] }, { a: [{ b: null }] }, { a: [{}] }],
  [{ a: { x: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  [{ a: 'x' }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  [{ a: 1 }, [{ b: null }], [{}]],
]
for (const [document, patch, result] of cases) {
  test(`${JSON.stringify(document)} + ${JSON.stringify(patch)}`, () => {
    const before = JSON.stringify([document, patch])
    assert.deepEqual(applyMergePatch(document, patch), result)
    assert.equal(JSON.stringify([document, patch]), before)
  })
}

test('before 1.22 nulls are removed from new lists', () => {
  const patch = { a: [{ b: null, c: [null, 1] }, null], d: [null] }
  const document = { d: { e: 1 } }
  assert.deepEqual(applyMergePatch(document, patch, 21), { a: [{ c: [1] }], d: [null] })
  assert.deepEqual(applyMergePatch(document, patch, 22), {
    a: [{ c: [null, 1] }, null],
    d: [null],
  })
})

for (const patch of [null, 'x', 1]) {
  test(`${JSON.stringify(patch)} is no merge patch`, () => {
    const message = 'Invalid JSON Patch'
    assert.throws(() => applyMergePatch({}, patch, 22), { code: 500, message })
    assert.throws(() => applyMergePatch({}, patch, 23), { code: 400, message })
  })
}

test('names of inherited members are ordinary names', () => {
  const patched = applyMergePatch(
    JSON.parse('{"a":{"__proto__":{"x":1},"y":2}}'),
    JSON.parse('{"a":{"__proto__":{"z":3}}}'),
  )
  assert.equal(JSON.stringify(patched), '{"a":{"__proto__":{"x":1,"z":3},"y":2}}')
})
