/**
 * Recorded conversations with one thing changed (a value, a field, a header, a parameter, the path,
 * the method, the user, the order), held with a real server and with this one: their answers must
 * be the same. This tests the neighbours of what was recorded, where the held-back recordings lie.
 *
 *   node tools/run.mjs file conformance/fuzz-recorded.ts --peer URL --ours URL [--seed N]
 *       [--count N]
 *       [--only REGEX] [--family NAMES] [--golden FOLDER]
 *
 * `--only` is matched against the case's name. The recordings of the release that the other server
 * is are taken, or those of 1.22.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { changeOne, type RecordedStep, seenIn } from './changed-recordings.ts'
import { Random } from './random.ts'
import { type Settings, settingsOf, showDifference } from './two-servers.ts'

interface Recorded {
  readonly name: string
  readonly family: string
  readonly bare?: boolean
  readonly steps: readonly RecordedStep[]
}

/** Families whose neighbours other fuzzers cover: definitions and applies. */
const elsewhere = ['crds', 'schemas', 'custom', 'applied']

function recordings(folder: string, release: string): Recorded[] {
  const own = join(folder, `1.${release}.open.jsonl.gz`)
  const file = existsSync(own) ? own : join(folder, '1.22.open.jsonl.gz')
  const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Recorded)
}

async function hold(settings: Settings, steps: readonly RecordedStep[], id: string) {
  const { servers } = settings
  const found: string[] = []
  servers.forget()
  for (const raw of steps) {
    const {
      as = 'admin',
      pause,
      ...rest
    } = JSON.parse(JSON.stringify(raw).replaceAll('{id}', id)) as RecordedStep
    if (pause) await new Promise((done) => setTimeout(done, pause))
    const identity: Record<string, string> =
      as === 'anonymous' ? {} : { authorization: `Bearer ${as}-token` }
    const method = rest.method ?? 'GET'
    const headers = { ...identity, ...rest.headers }
    const step = { ...rest, method, headers, ...(as === 'anonymous' && { as }) }
    const { difference } = await servers.ask(step, id)
    if (difference === undefined) continue
    const body = JSON.stringify(raw.body)?.slice(0, 1500) ?? ''
    const head = `${step.method} ${raw.path} ${JSON.stringify({ ...raw.headers, as: raw.as })}`
    found.push(`${head}\n    ${body}\n  ${showDifference(difference)}`)
  }
  return found
}

async function main(): Promise<number> {
  const settings = await settingsOf(process.argv.slice(2), {
    family: { type: 'string' },
    golden: { type: 'string', default: resolve(import.meta.dirname, '../../shared/golden') },
  })
  const { seed, count, only, keepGoing, servers, more } = settings
  const version = (await servers.askPeer({ method: 'GET', path: '/version' })) as { minor?: string }
  const families = typeof more.family === 'string' ? more.family.split(',') : undefined
  const cases = recordings(more.golden as string, String(Number.parseInt(version.minor ?? '', 10)))
    .filter(({ family }) => families?.includes(family) ?? !elsewhere.includes(family))
    .filter(({ name }) => only === undefined || only.test(name))
  const byFamily = Map.groupBy(cases, ({ family }) => family)
  const seen = new Map(
    [...byFamily].map(([family, some]) => [family, seenIn(some.flatMap(({ steps }) => steps))]),
  )
  const run = `f${Date.now().toString(36)}`
  let different = 0
  for (let i = 0; i < count; i++) {
    const random = new Random(seed + i)
    const family = random.pick([...byFamily.keys()])
    const chosen = random.pick(byFamily.get(family) as Recorded[])
    const steps = changeOne(chosen.steps, random, seen.get(family) as ReturnType<typeof seenIn>)
    const id = `${run}-${i.toString(36)}`
    if (!chosen.bare) await servers.makeNamespace(id)
    const found = await hold(settings, steps, id)
    if (found.length === 0) continue
    different++
    console.log(`seed ${seed + i}: ${chosen.name}\n  ${found.join('\n  ')}`)
    if (!keepGoing) break
  }
  console.log(
    `${count} conversations from seed ${seed} near ${cases.length} recorded ones, ${different} answered differently`,
  )
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
