import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareKeys, lowerBound } from './key-order.ts'

const keys = [
  '',
  'a',
  'aa',
  'a/',
  'b',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '𝒳',
  'a𝒳',
  'a\uffee',
  'a\0',
]

test('keys compare as their UTF-8 bytes', () => {
  for (const left of keys) {
    for (const right of keys) {
      const expected = Buffer.compare(Buffer.from(left), Buffer.from(right))
      assert.equal(Math.sign(compareKeys(left, right)), expected, `${left} and ${right}`)
    }
  }
})

test('the lower bound is the first key that is not before the given one', () => {
  const sorted = keys.toSorted(compareKeys)
  for (const [i, key] of sorted.entries()) assert.equal(lowerBound(sorted, key), i)
  assert.equal(lowerBound(sorted, '\u{10ffff}'), sorted.length)
})
