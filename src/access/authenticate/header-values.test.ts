import assert from 'node:assert/strict'
import { test } from 'node:test'
import { impersonation } from '#access/impersonate.ts'
import { allValues, firstValue, separateHeaders, unescapedKey } from './header-values.ts'

test('repeated headers keep separate values', () => {
  const raw = ['Impersonate-User', 'a', 'impersonate-group', 'x, y', 'IMPERSONATE-GROUP', 'z']
  const headers = separateHeaders([...raw, 'Impersonate-Group', 'w', '__proto__', 'p'])
  assert.deepEqual(headers['impersonate-group'], ['x, y', 'z', 'w'])
  assert.ok(Object.hasOwn(headers, '__proto__'))
  const admin = { name: 'admin', uid: '', groups: [], extra: {} }
  assert.deepEqual(impersonation(headers, admin, 22)?.user.groups, [
    'x, y',
    'z',
    'w',
    'system:authenticated',
  ])
})

test('a header that is sent very often takes linear time', () => {
  const raw = Array.from({ length: 120_000 }, (_, i) => (i % 2 === 0 ? 'cookie' : 'a'))
  const beganAt = performance.now()
  assert.equal(separateHeaders(raw).cookie?.length, 60_000)
  assert.ok(performance.now() - beganAt < 1000)
})

test('one value or all', () => {
  assert.equal(firstValue(['a', 'b']), 'a')
  assert.equal(firstValue(undefined), undefined)
  assert.deepEqual(allValues('a'), ['a'])
  assert.deepEqual(allValues(undefined), [])
})

test('keys in header names', () => {
  assert.equal(unescapedKey('a%2fb'), 'a/b')
  assert.equal(unescapedKey('100%'), '100%')
})
