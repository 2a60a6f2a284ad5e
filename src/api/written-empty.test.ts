import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rememberEmpty, wasWrittenEmpty } from './written-empty.ts'

test('what was written empty is remembered beside the object, not in it', () => {
  const holder = { a: 1 }
  assert.equal(wasWrittenEmpty(holder, 'labels'), false)
  rememberEmpty(holder, 'labels')
  rememberEmpty(holder, 'annotations')
  assert.ok(wasWrittenEmpty(holder, 'labels'))
  assert.ok(wasWrittenEmpty(holder, 'annotations'))
  assert.deepEqual(holder, { a: 1 })
  assert.equal(JSON.stringify(holder), '{"a":1}')
  assert.equal(wasWrittenEmpty(structuredClone(holder), 'labels'), false)
  assert.equal(wasWrittenEmpty(undefined, 'labels'), false)
})
