import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberName, withRepeatedMembers } from './repeated-members.ts'

const cases: [text: string, names: string[]][] = [
  ['{"a":1,"b":2}', ['a', 'b']],
  ['{"a":1,"b":"a","a" : 2,"a":3}', ['a', 'b', 'a', 'a']],
  ['{"a":{"a":1,"c":[{"c":1}]},"\\u0061":"}\\"{"}', ['a', 'a']],
]
for (const [text, names] of cases)
  test(`members of ${text}`, () =>
    assert.deepEqual(Object.keys(JSON.parse(withRepeatedMembers(text))).map(memberName), names))

test('texts in lists and values of one key are no members', () => {
  const text = '{"a":["a","a"],"b":"a"}'
  assert.equal(withRepeatedMembers(text), text)
})
