/**
 * Records the messages of a real server for odd values in every field of every built-in kind, one
 * row for each message: `rules.jsonl`, which `rules.slow.test.ts` holds this server to without the
 * other one.
 *
 *   node tools/run.mjs file conformance/record-rules.ts --peer URL
 *
 * Of the accepted values of a field, the first is kept if others are rejected.
 */
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Json } from '#api/object-meta.ts'
import { type FieldChange, fieldChanges } from './field-changes.ts'
import { isLasting, nameOf, type RuleRow, stepOf, problemsIn, type Way, ways } from './rule-rows.ts'
import type { Step } from './two-servers.ts'
import { declaredValues } from './types-of-facts.ts'
import { walkedObjects } from './walked-objects.ts'
import { type Place, placeOf } from './walked-place.ts'

const { values } = parseArgs({ options: { peer: { type: 'string' }, only: { type: 'string' } } })
const peer = new URL(values.peer ?? '')
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 6 })
const declared = declaredValues()
const id = `r${Date.now().toString(36)}`
/** Requests under way at a time. */
const atOnce = 6

function ask({ method, path, body }: Step): Promise<{ status: number; text: string }> {
  return new Promise((answered, failed) => {
    const data = body === undefined ? undefined : JSON.stringify(body)
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { authorization: 'Bearer admin-token', 'content-type': type }
    const sent = request({ agent, host: peer.hostname, port: peer.port, method, path, headers })
    sent.on('error', failed)
    sent.on('response', (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part) => parts.push(part))
      answer.on('end', () =>
        answered({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      )
    })
    sent.end(data)
  })
}

/**
 * The message without its object: values, places in lists and the holder of a pod template are left
 * out.
 */
const gist = (told: string): string =>
  told
    .replace(/^(spec\.jobTemplate\.)?(spec\.)?template\.(?=spec)/, '')
    .replace(/"[^"]*"|\b\d+\b/g, '_')

const known = new Set<string>()
function isNew(
  place: Place,
  way: Way,
  path: FieldChange['path'],
  told: readonly string[],
): boolean {
  const kind = place.title.split('/')[0]
  let isFirst = false
  for (const one of told) {
    const of = /template/.test(one) ? '' : kind
    // What two long ones differ in is what they show of the value.
    const said = one.includes('… #')
      ? `${path.slice(0, 3).join('.')} ${gist(one.slice(0, 90))}`
      : gist(one)
    const key = `${of} ${way === 'status' ? way : ''} ${said}`
    if (!known.has(key)) isFirst = true
    known.add(key)
  }
  return isFirst
}

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
    const { status, text } = await ask(step)
    const told = problemsIn(status, text, id)
    if (told === undefined) return
    const kept: readonly [] | readonly [Json] = value === undefined ? [] : [value]
    const row: RuleRow = [name, way, path, kept, told]
    const at = path.join('.')
    if (typeof told === 'string') {
      if (value !== undefined && !taken.has(at)) taken.set(at, row)
    } else {
      refused.add(at)
      if (isNew(place, way, path, told)) rows.push(row)
    }
  }
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = changes.next(); !next.done; next = changes.next()) await one(next.value)
    }),
  )
  const isShared = /template|Template/
  for (const [at, row] of taken) if (refused.has(at) && !isShared.test(at)) rows.push(row)
  return rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

async function main(): Promise<void> {
  const core = '/api/v1/namespaces'
  await ask({ method: 'POST', path: core, body: { metadata: { name: id } } })
  const account = { metadata: { name: 'default' } }
  await ask({ method: 'POST', path: `${core}/${id}/serviceaccounts`, body: account })
  const all: RuleRow[] = []
  for (const walked of walkedObjects) {
    const place = placeOf(walked, id, undefined)
    const name = nameOf(walked)
    if (values.only !== undefined && !new RegExp(values.only).test(place.title)) continue
    const none: FieldChange = { path: ['kind'], value: place.object.kind }
    const whole = await ask(stepOf(place, 'create', none, declared, ''))
    const told = problemsIn(whole.status, whole.text, id)
    if (told !== undefined) all.push([name, 'create', none.path, [none.value as Json], told])
    let version = ''
    for (const way of ways) {
      if (way === 'update') {
        const { text } = await ask({ method: 'POST', path: place.path, body: place.object })
        version = String(JSON.parse(text).metadata?.resourceVersion)
      }
      // A dry run over an autoscaler shows what was there before.
      const rows = (await rowsOf(name, place, way, version)).filter(
        ([, , , , told]) => typeof told !== 'string' || isLasting(name, way),
      )
      all.push(...rows)
    }
    await ask({ method: 'PATCH', path: place.itemPath, body: { metadata: { finalizers: null } } })
    await ask({ method: 'DELETE', path: `${place.itemPath}?gracePeriodSeconds=0` })
    console.log(place.title, all.length)
  }
  await ask({ method: 'DELETE', path: `${core}/${id}` })
  const text = all.map((row) => `${JSON.stringify(row)}\n`.replaceAll(id, '{id}')).join('')
  writeFileSync(resolve(import.meta.dirname, 'rules.jsonl'), text)
  agent.destroy()
}

await main()
