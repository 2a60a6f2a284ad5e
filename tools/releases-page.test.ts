/** The page of changes is the one that the code gives. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { releasesPage } from './releases-page.ts'

const page = join(resolve(import.meta.dirname, '..'), 'docs/releases.md')

test('docs/releases.md is made from the declared changes', async () => {
  assert.equal(
    await releasesPage(),
    readFileSync(page, 'utf8'),
    'run `node tools/run.mjs file tools/releases-page.ts`',
  )
})
