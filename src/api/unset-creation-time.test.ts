import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsetCreationTime } from './unset-creation-time.ts'

for (const [release, expected] of [
  [33, { creationTimestamp: null }],
  [34, {}],
] as const) {
  test(`1.${release}: metadata without a time of creation`, () => {
    assert.deepEqual(unsetCreationTime(release), expected)
  })
}
