import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invalid, tooLong } from '#api/field-error.ts'
import { dns1123Label, ipAddress } from '#api/names.ts'
import { inWordsOf } from './words-of-release.ts'

const errors = [
  invalid('a', 'A', dns1123Label('A')[0] as string),
  invalid('b', 'B', ipAddress('B')[0] as string),
  tooLong('c', 'C', 3),
]

test('the newest release has its own words', () => {
  assert.deepEqual(inWordsOf(22, errors), errors)
})

test('older releases have theirs', () => {
  const [label, ip, long] = inWordsOf(15, errors)
  assert.match(label?.message ?? '', /^Invalid value: "A": a DNS-1123 label must consist of/)
  assert.match(ip?.message ?? '', /\(e\.g\. 10\.9\.8\.7\)$/)
  assert.equal(long?.message, 'Too long: must have at most 3 characters')
  assert.equal(inWordsOf(19, errors)[2]?.message, 'Too long: must have at most 3 bytes')
})
