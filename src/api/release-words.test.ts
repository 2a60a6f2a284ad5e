import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from './field-path.ts'
import { invalid } from './field-error.ts'
import { dns1123Label } from './names.ts'
import { inWordsOf } from './release-words.ts'

test('older releases have their own words', () => {
  const [problem] = dns1123Label('A')
  const errors = [invalid(FieldPath.of('x'), 'A', problem as string)]
  assert.equal(inWordsOf(errors, 22), errors)
  assert.match(inWordsOf(errors, 20)[0]?.message ?? '', /"A": a lowercase RFC 1123 label must/)
  assert.match(inWordsOf(errors, 19)[0]?.message ?? '', /"A": a DNS-1123 label must/)
})
