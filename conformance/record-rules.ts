/**
 * Records the messages of a real server for odd values in every field of every built-in kind, one
 * row for each message: `rules-RELEASE.jsonl`, which `rules.slow.test.ts` holds this server to
 * without the other one.
 *
 *   node tools/run.mjs file conformance/record-rules.ts --peer URL
 *
 * Of the accepted values of a field, the first is kept if others are rejected. `--only REGEX`
 * records the matching shapes once more, and keeps the rows of the others.
 */
import { parseArgs } from 'node:util'
import type { Json } from '#api/object-meta.ts'
import { type FieldChange, fieldChanges } from './field-changes.ts'
import { connectTo } from './recorded-server.ts'
import { minorOf, readRecording, writeRecording } from './recordings.ts'
import { isLasting, nameOf, type RuleRow, stepOf, problemsIn, type Way, ways } from './rule-rows.ts'
import { SeenMessages } from './seen-messages.ts'
import { declaredValues } from './types-of-facts.ts'
import { type WalkedObject, walkedObjectsOf } from './walked-objects.ts'
import { type Place, placeOf } from './walked-place.ts'

const { values } = parseArgs({ options: { peer: { type: 'string' }, only: { type: 'string' } } })
const peer = await connectTo(values.peer ?? '')
const declared = declaredValues()
const id = `r${Date.now().toString(36)}`
/** Requests under way at a time. */
const atOnce = 6

const seen = new SeenMessages()

async function rowsOf(name: string, place: Place, way: Way, version: string): Promise<RuleRow[]> {
  const rows: RuleRow[] = []
  const taken = new Map<string, RuleRow>()
  const refused = new Set<string>()
  const changes = fieldChanges(place.type, declared, place.walked)
  let count = 0
  const one = async ({ path, value }: FieldChange) => {
    // Most of what a pod is made of does not change: a part of it says so.
    if (way === 'update' && path.length > 4 && count++ % 4 !== 0) return
    if ((path[0] === 'status') !== (way === 'status')) return
    if (path[0] === 'metadata' && way !== 'create') return
    const step = stepOf(place, way, { path, value }, declared, version)
    const { status, text } = await peer.ask(step)
    const told = problemsIn(status, text, id)
    if (told === undefined) return
    const kept: readonly [] | readonly [Json] = value === undefined ? [] : [value]
    const row: RuleRow = [name, way, path, kept, told]
    const at = path.join('.')
    if (typeof told === 'string') {
      if (value !== undefined && !taken.has(at)) taken.set(at, row)
    } else {
      refused.add(at)
      if (seen.isNew(row)) rows.push(row)
    }
  }
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = changes.next(); !next.done; next = changes.next()) await one(next.value)
    }),
  )
  const isShared = /template|Template/
  for (const [at, row] of taken) {
    if (refused.has(at) && !isShared.test(at) && seen.isNew(row)) rows.push(row)
  }
  return rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** Nothing of a kind that the server does not serve. */
async function recordPlace(walked: WalkedObject): Promise<RuleRow[]> {
  const place = placeOf(walked, id, undefined, minorOf(peer.release))
  const name = nameOf(walked)
  const all: RuleRow[] = []
  const none: FieldChange = { path: ['kind'], value: place.object.kind }
  const whole = await peer.ask(stepOf(place, 'create', none, declared, ''))
  if (whole.status === 404) return all
  if (whole.status >= 300) console.log(`${place.title} is not accepted: ${whole.text}`)
  const told = problemsIn(whole.status, whole.text, id)
  if (told !== undefined && isLasting(name, 'create'))
    all.push([name, 'create', none.path, [none.value as Json], told])
  let version = ''
  for (const way of ways) {
    if (way === 'update') {
      const { text } = await peer.ask({ method: 'POST', path: place.path, body: place.object })
      version = String(JSON.parse(text).metadata?.resourceVersion)
    }
    // A dry run over an autoscaler shows what was there before.
    const rows = (await rowsOf(name, place, way, version)).filter(
      ([, , , , told]) => typeof told !== 'string' || isLasting(name, way),
    )
    all.push(...rows)
  }
  const free = { metadata: { finalizers: null } }
  await peer.ask({ method: 'PATCH', path: place.itemPath, body: free })
  await peer.ask({ method: 'DELETE', path: `${place.itemPath}?gracePeriodSeconds=0` })
  return all
}

async function main(): Promise<void> {
  const core = '/api/v1/namespaces'
  await peer.ask({ method: 'POST', path: core, body: { metadata: { name: id } } })
  const account = { metadata: { name: 'default' } }
  await peer.ask({ method: 'POST', path: `${core}/${id}/serviceaccounts`, body: account })
  const before = Map.groupBy(readRecording<RuleRow>('rules', peer.release), ([name]) => name)
  const isRecorded = (walked: WalkedObject) =>
    values.only === undefined || new RegExp(values.only).test(nameOf(walked))
  const all: RuleRow[] = []
  const everything = walkedObjectsOf(minorOf(peer.release))
  for (const walked of everything.filter((one) => !isRecorded(one))) {
    for (const row of before.get(nameOf(walked)) ?? []) seen.isNew(row)
  }
  for (const walked of everything) {
    const rows = isRecorded(walked) ? await recordPlace(walked) : before.get(nameOf(walked))
    all.push(...(rows ?? []))
    console.log(nameOf(walked), all.length)
    writeRecording('rules', peer.release, all, (line) => line.replaceAll(id, '{id}'))
  }
  await peer.ask({ method: 'DELETE', path: `${core}/${id}` })
  peer.close()
}

await main()
