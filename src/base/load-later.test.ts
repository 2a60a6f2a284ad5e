import assert from 'node:assert/strict'
import test from 'node:test'
import { loadLater } from './load-later.ts'

test('a module is loaded once, on first use', () => {
  const clock = loadLater<typeof import('./clock.ts')>(import.meta.url, './clock')
  assert.equal(typeof clock().systemClock.now(), 'number')
  assert.equal(clock(), clock())
})

test('a missing module is an error on first use, not before', () => {
  const absent = loadLater(import.meta.url, './absent')
  assert.throws(absent, /absent/)
})
