import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { interleave } from './interleaving.fixture.ts'

const place = mkdtempSync(join(tmpdir(), 'interleaving-'))
after(() => rmSync(place, { recursive: true }))

/** Some fixed seeds and a new one, which is part of the test's name. */
const seeds = [...Array.from({ length: 8 }, (_, i) => i + 1), Date.now() % 1e9]

for (const seed of seeds) {
  test(`seed ${seed}: the queue equals its model`, async () => {
    await interleave(seed, place)
  })
}
