/** The list of changes without tests on both sides names no change that has them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgivenChanges, untestedChanges } from './boundary-tests.ts'

test('test/untested-changes.txt shrinks with every test', async () => {
  const untested = new Set(await untestedChanges())
  assert.deepEqual(
    forgivenChanges().filter((title) => !untested.has(title)),
    [],
    'run `node tools/run.mjs file tools/boundary-tests.ts`',
  )
})
