import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyData } from './copy-data.ts'

const rows: [what: string, value: unknown][] = [
  ['plain values', [1, 'a', true, null, undefined, 2n ** 60n]],
  ['nested', { a: { b: [{ c: [] }, {}] } }],
  ['keys that mean something elsewhere', JSON.parse('{"__proto__":{"a":1},"constructor":"b"}')],
  ['absent members', { a: undefined }],
]

for (const [what, value] of rows) {
  test(what, () => {
    const copy = copyData(value)
    assert.deepStrictEqual(copy, structuredClone(value))
    assert.notEqual(copy, value)
  })
}

test('a copy shares nothing with its source', () => {
  const value = { a: { b: [1] } }
  const copy = copyData(value)
  copy.a.b.push(2)
  assert.deepEqual(value, { a: { b: [1] } })
  assert.equal(Object.getPrototypeOf(copyData(JSON.parse('{"__proto__":{}}'))), Object.prototype)
})
