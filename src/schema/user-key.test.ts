import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareKeys, setKey } from './user-key.ts'

test('keys are sorted by their UTF-8 bytes', () => {
  const keys = ['b', 'a', 'aa', '', 'é', '\ufffd', '🌊', '\ue000', 'B', '10', '9']
  const byBytes = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  assert.deepEqual(keys.toSorted(compareKeys), byBytes)
})

test('names of inherited members are ordinary keys', () => {
  const map: Record<string, string> = {}
  for (const key of ['__proto__', 'constructor', 'toString']) setKey(map, key, key)
  assert.deepEqual(Object.values(map), ['__proto__', 'constructor', 'toString'])
  assert.equal(Object.getPrototypeOf(map), Object.prototype)
})
