import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { interleave } from './interleaving.fixture.ts'

const place = mkdtempSync(join(tmpdir(), 'interleaving-'))
after(() => rmSync(place, { recursive: true }))

/**
 * Some that are always the same, and one that never was before: its number is in the name of the
 * test.
 */
const seeds = [...Array.from({ length: 8 }, (_, i) => i + 1), Date.now() % 1e9]

for (const seed of seeds) {
  test(`seed ${seed}: the queue does what its model does`, async () => {
    await interleave(seed, place)
  })
}
