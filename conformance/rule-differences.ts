/**
 * Sends the requests of recorded rows to this server, and reports the rows that it answers in other
 * words. `id` is the namespace of the run, and its part of names.
 */
import type { RunningServer } from '../test/running-server.ts'
import { changeOf, problemsIn, type RuleRow, stepOf, titleOf, type Way } from './rule-rows.ts'
import { declaredValues } from './types-of-facts.ts'
import { type Body, type Place, shownChange } from './walked-place.ts'

/** Requests under way at a time: enough to keep both processes busy. */
const atOnce = 8
const declared = declaredValues()

/** By the title of the row. */
export async function ruleDifferences(
  server: Pick<RunningServer, 'ask'>,
  place: Place,
  rows: readonly RuleRow[],
  id: string,
): Promise<Map<string, string>> {
  const wrong = new Map<string, string>()
  const checkAll = async (some: readonly RuleRow[], version: string) => {
    const iterator = some.values()
    const check = async () => {
      for (const row of iterator) {
        const [, way, , , told] = row
        const change = changeOf(row, id)
        const { method, path, body } = stepOf(place, way as Way, change, declared, version)
        const answer = await server.ask(method, path, body)
        const said = problemsIn(answer.status, answer.text, id) ?? answer.text
        const [want, got] = [told, said].map((one) => JSON.stringify(one))
        if (want !== got)
          wrong.set(titleOf(row), `${way} ${shownChange(change)}: ${want}, not ${got}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, check))
  }
  const [creates, writes] = [true, false].map((isCreate) =>
    rows.filter(([, way]) => (way === 'create') === isCreate),
  ) as [RuleRow[], RuleRow[]]
  await checkAll(creates, '')
  const made = await server.ask('POST', place.path, place.object)
  const { metadata } = made.body as { metadata?: Body }
  await checkAll(writes, String(metadata?.resourceVersion))
  const merge = { 'content-type': 'application/merge-patch+json' }
  await server.ask('PATCH', place.itemPath, { metadata: { finalizers: null } }, merge)
  await server.ask('DELETE', `${place.itemPath}?gracePeriodSeconds=0`)
  return wrong
}
