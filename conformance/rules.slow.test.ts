/**
 * The messages of a real server for odd values in every field, row by row (`rules.jsonl`, made by
 * `record-rules.ts`): this server reports the same, and stores the same of what it accepts.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from '../test/running-server.ts'
import { shownChange } from './walked-place.ts'
import { changeOf, nameOf, type RuleRow, stepOf, problemsIn, type Way } from './rule-rows.ts'
import { declaredValues } from './types-of-facts.ts'
import { walkedObjects } from './walked-objects.ts'
import { type Body, placeOf } from './walked-place.ts'

/** In no word that a server says. */
const id = 'zq7zq7'
/** Requests under way at a time: enough to keep both processes busy. */
const atOnce = 8
const declared = declaredValues()
const rows = readFileSync(new URL('rules.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RuleRow)
const byPlace = Map.groupBy(rows, ([place]) => place)

let server: RunningServer
before(async () => {
  server = await startServer(['--controllers=-*', '--service-cluster-ip-range=10.0.0.0/16'])
  await server.ask('POST', '/api/v1/namespaces', { metadata: { name: id } })
  const account = { metadata: { name: 'default' } }
  await server.ask('POST', `/api/v1/namespaces/${id}/serviceaccounts`, account)
})
after(() => server.stop())

for (const walked of walkedObjects) {
  const place = placeOf(walked, id, undefined)
  const mine = byPlace.get(nameOf(walked)) ?? []
  test(`${nameOf(walked)}: ${mine.length} rules`, async () => {
    const wrong: string[] = []
    const check = async (iterator: Iterable<RuleRow>, version: string) => {
      for (const row of iterator) {
        const [, way, , , told] = row
        const { method, path, body } = stepOf(
          place,
          way as Way,
          changeOf(row, id),
          declared,
          version,
        )
        const answer = await server.ask(method, path, body)
        const said = problemsIn(answer.status, answer.text, id) ?? answer.text
        const [want, got] = [told, said].map((one) => JSON.stringify(one))
        if (want !== got)
          wrong.push(`${way} ${shownChange(changeOf(row, id))}: ${want}, not ${got}`)
      }
    }
    const checkAll = async (some: readonly RuleRow[], version: string) => {
      const iterator = some.values()
      await Promise.all(Array.from({ length: atOnce }, () => check(iterator, version)))
    }
    await checkAll(
      mine.filter(([, way]) => way === 'create'),
      '',
    )
    const made = await server.ask('POST', place.path, place.object)
    const { metadata } = made.body as { metadata?: Body }
    await checkAll(
      mine.filter(([, way]) => way !== 'create'),
      String(metadata?.resourceVersion),
    )
    const merge = { 'content-type': 'application/merge-patch+json' }
    await server.ask('PATCH', place.itemPath, { metadata: { finalizers: null } }, merge)
    await server.ask('DELETE', `${place.itemPath}?gracePeriodSeconds=0`)
    assert.deepEqual(wrong, [])
  })
}
