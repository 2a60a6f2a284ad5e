import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { operations } from './operations.ts'

test('docs/testing.md names every operation', () => {
  const page = readFileSync(new URL('../../../docs/testing.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  for (const { method, path } of operations) {
    const place = path.replace('{cluster}', 'NAME').replace('{rule}', 'RULE')
    const short = place.replace(/^\/clusters\/NAME(?=\/)/, '…/NAME')
    const named = rows.some(
      (row) =>
        row.includes(`\`${method}`) &&
        (row.includes(`${short}\``) || row.includes(`/testing/v1${place}\``)),
    )
    assert.ok(named, `${method} ${path}`)
  }
})
