import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from './field-path.ts'
import { invalid, tooLong } from './field-error.ts'
import { dns1123Label, ipAddress } from './names.ts'
import { inWordsOf } from './release-words.ts'

test('older releases have their own words', () => {
  const [problem] = dns1123Label('A')
  const errors = [invalid(FieldPath.of('x'), 'A', problem as string)]
  assert.equal(inWordsOf(errors, 22), errors)
  assert.match(inWordsOf(errors, 20)[0]?.message ?? '', /"A": a lowercase RFC 1123 label must/)
  assert.match(inWordsOf(errors, 19)[0]?.message ?? '', /"A": a DNS-1123 label must/)
})

test('addresses of one family, and lengths in characters, are older still', () => {
  const errors = [
    invalid(FieldPath.of('x'), 'B', ipAddress('B')[0] as string),
    tooLong(FieldPath.of('y'), 'C', 3),
  ]
  const [address, length] = inWordsOf(errors, 15)
  assert.match(address?.message ?? '', /\(e\.g\. 10\.9\.8\.7\)$/)
  assert.equal(length?.message, 'Too long: must have at most 3 characters')
  assert.equal(inWordsOf(errors, 19)[1]?.message, 'Too long: must have at most 3 bytes')
})
