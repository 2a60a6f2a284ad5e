import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanAsSent } from './proxy-path.ts'

// path, cleaned
const sent: [string, string][] = [
  ['/', '/'],
  ['//', '/'],
  ['/a//b', '/a/b'],
  ['/a/../../b/', '/b/'],
  ['/x/proxy/../a', '/x/a'],
]
for (const [path, expected] of sent) {
  test(`${path} cleaned as it was sent`, () => assert.equal(cleanAsSent(path), expected))
}
