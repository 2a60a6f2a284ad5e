/**
 * Random definitions and their objects, sent to two servers that are to answer alike: same
 * verdicts, defaults, pruning, owners, tables and words, in the same order. Bounded and repeatable:
 *
 *   node conformance/fuzz-schemas.ts --ours https://127.0.0.1:6443
 *       --peer https://127.0.0.1:16443 --seed 1 --count 50
 *
 * `--what` is one of the questions below, or all of them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { damage } from './damage.ts'
import { Life } from './fuzz-custom-life.ts'
import { definitionsPath, gearDefinition, gearVersion } from './gear-definition.ts'
import { Random } from './random.ts'
import { randomDefinition, spoil } from './random-definition.ts'
import { objectSchema, randomValue } from './random-schema.ts'
import { ExactServers } from './exact-servers.ts'
import type { Replayer } from './two-servers.ts'
import type { Difference, Step } from './two-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape
type Any = any

const replay = process.env.BINNACLE_REPLAY ?? '../shared/replay/replay.mjs'
const { values: flags } = parseArgs({
  options: {
    ours: { type: 'string', default: '' },
    peer: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    objects: { type: 'string', default: '10' },
    what: { type: 'string', default: 'all' },
    /** A folder of definitions in JSON: they are taken for damaging and for objects. */
    definitions: { type: 'string' },
    lib: { type: 'string', default: join(dirname(resolve(replay)), 'lib.mjs') },
  },
})

/** kube-apiserver needs about this long before the first object of a new kind. */
const settleMs = 3000
const lib = (await import(pathToFileURL(flags.lib).href)) as Replayer
const servers = new ExactServers(lib, flags.peer, flags.ours)
const count = Number(flags.count)
let asked = 0
let same = 0

/** Whether both answered alike; the answer where they did. */
async function ask(what: string, step: Step): Promise<Any> {
  asked++
  const { want, difference } = await servers.ask(step)
  if (difference === undefined) {
    same++
    return want
  }
  const sent = JSON.stringify(step.body) ?? ''
  process.stdout.write(
    `✗ ${what}\n  ${step.method} ${step.path} ${step.headers?.['content-type'] ?? ''}\n  sent ${sent.slice(0, 3000)}\n  ${shown(difference)}\n`,
  )
  return undefined
}

/** Long texts are shown from a little before they part. */
function shown({ path, want, got }: Difference): string {
  const [a, b] = [want, got].map((one) => JSON.stringify(one) ?? 'nothing')
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const from = Math.max(0, at - 60)
  return `at ${path || 'the top'}\n    peer ${a.slice(from, from + 500)}\n    ours ${b.slice(from, from + 500)}`
}

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, settleMs))
const post = (body: Any, query = ''): Step => ({
  method: 'POST',
  path: definitionsPath + query,
  body,
})
const remove = async (names: readonly string[]): Promise<void> => {
  for (const name of names) {
    await servers.ask({ method: 'DELETE', path: `${definitionsPath}/${name}` })
  }
}

const simpleDefinition = (group: string, spec: Any): Any =>
  gearDefinition(group, [gearVersion('v1', { type: 'object', properties: { spec } }, true)])

/** Objects of random schemas: what is accepted, pruned, defaulted, reported. */
async function schemas(seed: number): Promise<void> {
  const random = new Random(seed)
  const cases = Array.from({ length: count }, (_, i) => ({
    group: `s${seed}-${i}.example.com`,
    spec: objectSchema(random, 3),
    accepted: false,
  }))
  for (const one of cases) {
    const seen = await ask(`definition`, post(simpleDefinition(one.group, one.spec)))
    one.accepted = seen?.status === 201
  }
  await settled()
  for (const { group, spec, accepted } of cases) {
    if (!accepted) continue
    for (let i = 0; i < Number(flags.objects); i++) {
      const value = randomValue(random, spec, i < 3 ? 0 : 0.12)
      const { step } = objectStep(random, `/apis/${group}/v1/namespaces/default/gears`, {
        apiVersion: `${group}/v1`,
        kind: 'Gear',
        metadata: { name: `g${i}` },
        spec: value,
      })
      await ask(JSON.stringify(spec), step)
    }
  }
  await remove(cases.map(({ group }) => `gears.${group}`))
}

function objectStep(random: Random, path: string, body: Any): { step: Step } {
  if (!random.chance(0.25)) return { step: { method: 'POST', path: `${path}?dryRun=All`, body } }
  return {
    step: {
      method: 'PATCH',
      path: `${path}/${body.metadata.name}?fieldManager=f&dryRun=All`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body,
    },
  }
}

/** Whole definitions, most with something wrong. */
async function wholes(seed: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const random = new Random(seed * 1000 + i)
    const body = randomDefinition(random, `d${seed}-${i}.example.com`)
    for (let times = random.below(4); times > 0; times--) spoil(body, random)
    await ask(`definition ${seed * 1000 + i}`, post(body, '?dryRun=All'))
  }
}

/** Definitions that are in use somewhere, each damaged in one place, and objects of them. */
async function given(seed: number, folder: string): Promise<void> {
  const random = new Random(seed)
  const all = readdirSync(folder).map((file) =>
    JSON.parse(readFileSync(join(folder, file), 'utf8')),
  )
  for (let i = 0; i < count; i++) {
    const body = structuredClone(random.pick(all))
    delete body.status
    for (let times = 1 + random.below(2); times > 0; times--) damage(body, random)
    await ask('damaged', post(body, '?dryRun=All'))
  }
  for (const body of all) await ask('given', post(body))
  await settled()
  await settled()
  for (let i = 0; i < count; i++) {
    const { spec } = random.pick(all)
    const version = random.pick<Any>(spec.versions)
    if (!version.served) continue
    const value = randomValue(random, version.schema.openAPIV3Schema, random.pick([0, 0.02]))
    const namespace = spec.scope === 'Namespaced' ? '/namespaces/default' : ''
    const path = `/apis/${spec.group}/${version.name}${namespace}/${spec.names.plural}`
    const head = { apiVersion: `${spec.group}/${version.name}`, kind: spec.names.kind }
    const { step } = objectStep(random, path, { ...value, ...head, metadata: { name: 'g' } })
    await ask('object', step)
  }
  await remove(all.map(({ metadata }) => metadata.name))
}

/**
 * Kinds that live: objects written in all ways, then the definition changes, then objects again.
 */
async function lives(seed: number): Promise<void> {
  const all: Life[] = []
  for (let i = 0; i < count; i++) {
    const life = new Life(new Random(seed * 1000 + i), `l${seed}-${i}.example.com`, ask)
    if (await life.define(definitionsPath)) all.push(life)
  }
  await settled()
  for (const life of all) await life.live(8)
  for (const life of all) await life.redefine(definitionsPath)
  await settled()
  for (const life of all) await life.live(6)
  for (const life of all) await life.end(definitionsPath)
}

const seed = Number(flags.seed)
if (/all|schemas/.test(flags.what)) await schemas(seed)
if (/all|wholes/.test(flags.what)) await wholes(seed)
if (/all|lives/.test(flags.what)) await lives(seed)
if (flags.definitions !== undefined) await given(seed, flags.definitions)
process.stdout.write(`${same} of ${asked} answers the same\n`)
process.exit(same === asked ? 0 : 1)
