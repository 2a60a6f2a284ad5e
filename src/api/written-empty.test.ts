import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  copyWithEmptyMarks,
  copyWrittenEmpty,
  hasWrittenEmpty,
  rememberEmpty,
  wasWrittenEmpty,
} from './written-empty.ts'

test('a field that was written empty is remembered next to the object, not in it', () => {
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

test('a field that got a value later is no longer empty', () => {
  const holder: { labels?: object; list?: null } = {}
  rememberEmpty(holder, 'labels')
  assert.ok(hasWrittenEmpty([{ a: holder }]))
  holder.labels = { a: '1' }
  assert.equal(hasWrittenEmpty([{ a: holder }]), false)
  holder.list = null
  rememberEmpty(holder, 'list')
  assert.ok(hasWrittenEmpty(holder))
})

test('a shallow copy remembers if requested', () => {
  const holder = {}
  rememberEmpty(holder, 'labels')
  const copy = { ...holder }
  assert.equal(wasWrittenEmpty(copy, 'labels'), false)
  copyWrittenEmpty(holder, copy)
  assert.ok(wasWrittenEmpty(copy, 'labels'))
})

test('a deep copy remembers at every depth', () => {
  const value = { a: [{ b: {} }], __proto__x: 1 }
  rememberEmpty(value, 'c')
  rememberEmpty(value.a[0]?.b as object, 'd')
  const copy = copyWithEmptyMarks(value)
  assert.deepEqual(copy, value)
  assert.notEqual(copy.a, value.a)
  assert.ok(wasWrittenEmpty(copy, 'c'))
  assert.ok(wasWrittenEmpty(copy.a[0]?.b, 'd'))
})
