/**
 * What a real server of a release says of itself when it has just started (`fresh-RELEASE.jsonl`):
 * this one says the same, but for what `recorded-differences.txt` lists.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../test/running-server.ts'
import { type FreshRow, freshRows } from './fresh-rows.ts'
import { listedDifferences, readRecording, recordedReleases } from './recordings.ts'

for (const release of recordedReleases('fresh')) {
  const wanted = readRecording<FreshRow>('fresh', release)
  test(`a fresh server of ${release}: ${wanted.length} things it says of itself`, async () => {
    const server = await startServer([
      `--emulated-version=${release}`,
      '--controllers=-*',
      '--authorization-mode=Node,RBAC',
      '--advertise-address=192.0.2.1',
    ])
    const rows = await freshRows(async (path, accept) =>
      JSON.parse((await server.ask('GET', path, undefined, { accept })).text),
    )
    await server.stop()
    const [want, got] = [wanted, rows].map((some) => new Map(some))
    const different = [...new Set([...want.keys(), ...got.keys()])].filter(
      (what) => JSON.stringify(got.get(what)) !== JSON.stringify(want.get(what)),
    )
    assert.deepEqual(new Set(different), listedDifferences('fresh', release))
  })
}
