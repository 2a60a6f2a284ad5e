/** What ends a start in one line, and what stays a defect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as mustBe } from '#base/assert.ts'
import { CannotStart, orThrowCannotStart } from './cannot-start.ts'
import { CannotUseFile } from './private-files.ts'

const rows: [error: Error, name: string][] = [
  [new Error('token file /t, line 2: no user'), 'CannotStart'],
  [new CannotStart('told already'), 'CannotStart'],
  [new CannotUseFile('/f', 'is gone'), 'CannotUseFile'],
  [new TypeError('a defect'), 'TypeError'],
]
for (const [error, name] of rows)
  test(`${error.message}: ${name}`, async () => {
    await assert.rejects(orThrowCannotStart(Promise.reject(error)), {
      name,
      message: error.message,
    })
  })

test('a failed assertion stays a defect', async () => {
  const failing = async () => mustBe(false, 'never')
  await assert.rejects(orThrowCannotStart(failing()), {
    name: 'Error',
    message: 'assertion failed: never',
  })
})

test('what works is its value', async () => {
  assert.equal(await orThrowCannotStart(Promise.resolve(3)), 3)
})
