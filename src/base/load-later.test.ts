import assert from 'node:assert/strict'
import test from 'node:test'
import { loadLater } from './load-later.ts'

test('a module is loaded at its first use, and once', () => {
  const clock = loadLater<typeof import('./clock.ts')>(import.meta.url, './clock')
  assert.equal(typeof clock().systemClock.now(), 'number')
  assert.equal(clock(), clock())
})

test('a module that is not there is an error of its first use, not before', () => {
  const absent = loadLater(import.meta.url, './absent')
  assert.throws(absent, /absent/)
})
