/**
 * The messages of real servers for odd values in every field, row by row (`rules-RELEASE.jsonl`,
 * made by `record-rules.ts`): this server reports the same, and stores the same of what it accepts.
 * `recorded-differences.txt` lists the rows that differ, each with its cause. A listed row that is
 * the same fails too.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type RunningServer, startServer } from '../test/running-server.ts'
import { listedDifferences, minorOf, readRecording, recordedReleases } from './recordings.ts'
import { ruleDifferences } from './rule-differences.ts'
import { nameOf, type RuleRow, titleOf } from './rule-rows.ts'
import { walkedObjectsOf } from './walked-objects.ts'
import { placeOf } from './walked-place.ts'

/** In no word that a server says. */
const id = 'zq7zq7'

for (const release of recordedReleases('rules')) {
  const rows = readRecording<RuleRow>('rules', release)
  const walked = walkedObjectsOf(minorOf(release))
  const known = listedDifferences('rules', release)

  describe(`rules of ${release}`, () => {
    let server: RunningServer
    before(async () => {
      server = await startServer([
        `--emulated-version=${release}`,
        '--controllers=-*',
        '--service-cluster-ip-range=10.0.0.0/16',
      ])
      await server.ask('POST', '/api/v1/namespaces', { metadata: { name: id } })
      const account = { metadata: { name: 'default' } }
      await server.ask('POST', `/api/v1/namespaces/${id}/serviceaccounts`, account)
    })
    after(() => server.stop())

    test('every row has its shape, every listed difference its row', () => {
      const shapes = new Set(walked.map(nameOf))
      const titles = new Set(rows.map(titleOf))
      assert.deepEqual(new Set(rows.map(([name]) => name)).difference(shapes), new Set())
      assert.deepEqual(known.difference(titles), new Set())
    })

    for (const [name, mine] of Map.groupBy(rows, ([place]) => place)) {
      const shape = walked.find((one) => nameOf(one) === name)
      if (shape === undefined) continue
      test(`${name}: ${mine.length} rules`, async () => {
        const place = placeOf(shape, id, undefined, minorOf(release))
        const wrong = await ruleDifferences(server, place, mine, id)
        const unlisted = [...wrong].filter(([title]) => !known.has(title))
        assert.deepEqual(unlisted, [])
        const titles = mine.map(titleOf)
        assert.deepEqual(
          titles.filter((title) => known.has(title) && !wrong.has(title)),
          [],
        )
      })
    }
  })
}
