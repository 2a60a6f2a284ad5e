import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behaviourOf, folders, withSelectableFields } from './table.ts'

for (const key of folders.flatMap(([, resources]) => resources)) {
  test(`${key} is where the table says`, () => {
    assert.notEqual(behaviourOf(key, 22), undefined)
    assert.equal(
      behaviourOf(key, 22)?.selectableFields !== undefined,
      withSelectableFields.has(key),
    )
  })
}
