import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { behaviourOfRelease } from './behaviour-of-release.ts'
import { kindRows, placeOf, rulesIn } from './registry.ts'

for (const { group, plural, folder, selectsByFields = false } of kindRows) {
  test(`${group}/${plural} has its rules in ${folder}`, async () => {
    const { path, name } = placeOf(folder)
    const module = await import(`${path}.ts`)
    assert.deepEqual(Object.keys(module), [name], 'a kind exports one value, named after it')
    assert.equal(rulesIn(folder), module[name])
    const behaviour = behaviourOfRelease(rulesIn(folder), folder, 22)
    assert.equal(behaviour.selectableFields !== undefined, selectsByFields)
  })
}

test('every kind folder has a row, and no resource has two', () => {
  const kindFiles = globSync('*/*/*.ts', { cwd: import.meta.dirname }).filter((file) => {
    const [, kind, name] = file.split('/')
    return `${kind}.ts` === name
  })
  const folders = new Set(kindRows.map(({ folder }) => folder))
  assert.deepEqual([...folders].sort(), kindFiles.map(dirname).sort())
  const keys = kindRows.map(({ group, plural }) => `${group}/${plural}`)
  assert.deepEqual([...new Set(keys)], keys)
})
