/**
 * Random typed expressions as validation rules, on a real server and on this one: the same verdict
 * and message when they are defined, the same estimated cost, and the same errors for random
 * objects. Bounded and repeatable:
 *
 *   node tools/run.mjs file conformance/fuzz-cel.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--release N]
 *
 * `count` is the number of definitions; each has 40 expressions and a seed of its own, printed with
 * a difference.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { releaseOf } from '#api/releases/change.ts'
import { schemaType } from '#cel/schema-type.ts'
import { compileRule } from '#kinds/custom/rules/compile-rule.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { definitionsPath, gearDefinition, gearVersion } from './gear-definition.ts'
import { Random } from './random.ts'
import { ExpressionMaker, selfSchema, selfValue } from './random-expression.ts'
import type { ComparedResponse } from './compared-response.ts'
import { settingsOf, type Step } from './two-servers.ts'

const expressionsPerDefinition = 40
const objectsPerDefinition = 12
/** kube-apiserver needs about so long before the first object of a new kind. */
const settleMs = 2500
/**
 * Estimates are shown with three digits if they exceed the limit of ten million about fifty times.
 */
const shownCost = 500_000_000

const { servers, seed, count, more } = await settingsOf(process.argv.slice(2), {
  release: { type: 'string', default: '37' },
})
const release = releaseOf(Number(more.release))

interface Cause {
  readonly field: string
  readonly message: string
}
interface Answers {
  readonly peer: readonly Cause[]
  readonly ours: readonly Cause[]
  readonly peerStatus: number
}

const causesOf = ({ body, status }: ComparedResponse): Cause[] => {
  const { details, message } = (body ?? {}) as { details?: { causes?: Cause[] }; message?: string }
  if (status < 300) return []
  // Of rules with the same cost, chance decides which are named as the most expensive ones.
  const causes = details?.causes
    ?.filter((one) => !one.message.startsWith('Forbidden: contributed'))
    // kube-apiserver gives each type a number of its own.
    .map(({ field, message: text }) => ({
      field,
      message: text.replace(/selfType\d+/g, 'selfType'),
    }))
  return causes ?? [{ field: `status ${status}`, message: message ?? '' }]
}

/** Policies of other clients of the real server come and go: such a request is repeated. */
const foreignTriesMax = 200
const isForeign = ({ peer }: Answers): boolean =>
  peer.some(({ message }) => /policy '.*' with binding/.test(message))

async function ask(step: Step, id: string): Promise<Answers> {
  for (let tries = 1; ; tries++) {
    const answers = await askOnce(step, id)
    if (tries === foreignTriesMax || !isForeign(answers)) return answers
    await sleep(500)
  }
}

async function askOnce(step: Step, id: string): Promise<Answers> {
  const seen: ComparedResponse[] = []
  await servers.ask(step, id, (one) => {
    seen.push(one)
    return one
  })
  const [peer, ours] = seen as [ComparedResponse, ComparedResponse]
  return { peer: causesOf(peer), ours: causesOf(ours), peerStatus: peer.status }
}

const tally = { expressions: 0, invalid: 0, costs: 0, objects: 0, differences: 0 }

const keyed = (causes: readonly Cause[]): Map<string, string> => {
  const made = new Map<string, string>()
  for (const { field, message } of causes) made.set(field, `${made.get(field) ?? ''}${message}\n`)
  return made
}

/** Prints the causes that only one server has. `ruleAt`: the expression that a cause is about. */
function compare(what: string, { peer, ours }: Answers, ruleAt: (field: string) => string): void {
  const [want, got] = [keyed(peer), keyed(ours)]
  for (const field of new Set([...want.keys(), ...got.keys()])) {
    if (want.get(field) === got.get(field)) continue
    tally.differences += 1
    console.log(`✗ ${what} ${field} ${ruleAt(field)}`)
    const shown = (text: string | undefined) => JSON.stringify(text ?? 'nothing').slice(0, 500)
    console.log(`    peer ${shown(want.get(field))}\n    ours ${shown(got.get(field))}`)
  }
}

/** Messages that were printed: a rule can fail for every object. */
const printed = new Set<string>()

/**
 * The same for the errors of an object, which have one path and name their rules in the message.
 */
function compareMessages(what: string, { peer, ours }: Answers, value: unknown): void {
  const [want, got] = [peer, ours].map((causes) => new Set(causes.map(({ message }) => message)))
  const isNew = ({ message }: Cause) => !printed.has(message)
  const missing = peer.filter(({ message }) => !got?.has(message)).filter(isNew)
  const added = ours.filter(({ message }) => !want?.has(message)).filter(isNew)
  if (missing.length + added.length === 0) return
  for (const { message } of [...missing, ...added]) printed.add(message)
  tally.differences += 1
  console.log(`✗ ${what} ${JSON.stringify(value)}`)
  for (const { message } of missing) console.log(`    peer ${message.slice(0, 400)}`)
  for (const { message } of added) console.log(`    ours ${message.slice(0, 400)}`)
}

const withRules = (schema: JsonSchema, rules: readonly string[]): JsonSchema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => ({ rule })),
})
const definition = (group: string, properties: Record<string, JsonSchema>) =>
  gearDefinition(group, [gearVersion('v1', { type: 'object', properties }, true)])

const indexIn = (field: string): number =>
  Number(/x-kubernetes-validations\[(\d+)\]/.exec(field)?.[1] ?? -1)

/** The most that a rule can cost by our estimate; 0 if it does not compile. */
function costOf(rule: string, schema: JsonSchema): number {
  const type = schemaType(schema, false, release)
  if (type === undefined) return 0
  return compileRule({ rule }, { schema, type, release }, () => 'new').expression?.costMax ?? 0
}

async function askCosts(
  group: string,
  schema: JsonSchema,
  rules: readonly string[],
  what: string,
): Promise<void> {
  const costs = rules.map((rule) => costOf(rule, schema))
  const lists = rules.flatMap((rule, at): [string, JsonSchema][] => {
    const cost = costs[at] as number
    if (cost === 0 || cost > shownCost) return []
    const maxItems = Math.ceil(shownCost / cost)
    return [[`p${at}`, { type: 'array', maxItems, items: withRules(schema, [rule]) }]]
  })
  tally.costs += lists.length
  // A request has a limit of its own: a schema is large.
  for (let from = 0; from < lists.length; from += 10) {
    const body = definition(group, Object.fromEntries(lists.slice(from, from + 10)))
    const step = { method: 'POST', path: `${definitionsPath}?dryRun=All`, body }
    compare(`${what} cost`, await ask(step, group), (field) => {
      const at = Number(/properties\[p(\d+)\]/.exec(field)?.[1] ?? -1)
      return `${rules[at] ?? ''} (ours: ${costs[at] ?? ''})`
    })
  }
}

async function askObjects(
  group: string,
  schema: JsonSchema,
  rules: readonly string[],
  random: Random,
  what: string,
): Promise<void> {
  const body = definition(group, { spec: withRules(schema, rules) })
  const made = await ask({ method: 'POST', path: definitionsPath, body }, group)
  if (made.peerStatus !== 201) return
  await sleep(settleMs)
  for (let i = 0; i < objectsPerDefinition; i++) {
    const spec = selfValue(random)
    const object = { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'g' }, spec }
    const path = `/apis/${group}/v1/namespaces/default/gears?dryRun=All`
    compareMessages(what, await ask({ method: 'POST', path, body: object }, group), spec)
    tally.objects += 1
  }
  const path = `${definitionsPath}/gears.${group}`
  await ask({ method: 'DELETE', path }, group)
}

async function run(one: number): Promise<void> {
  const random = new Random(one)
  const group = `f${one}.cel.example.com`
  const schema = selfSchema(random) as JsonSchema
  const maker = new ExpressionMaker(random)
  const rules = Array.from({ length: expressionsPerDefinition }, () => maker.make())
  tally.expressions += rules.length
  const what = `seed ${one}`
  const body = definition(group, { spec: withRules(schema, rules) })
  const step = { method: 'POST', path: `${definitionsPath}?dryRun=All`, body }
  const answers = await ask(step, group)
  compare(what, answers, (field) => rules[indexIn(field)] ?? '')
  const refused = new Set(answers.peer.map(({ field }) => indexIn(field)))
  const valid = rules.filter((_, at) => !refused.has(at))
  tally.invalid += rules.length - valid.length
  await askCosts(group, schema, valid, what)
  await askObjects(group, schema, valid, random, what)
}

for (let i = 0; i < count; i++) await run(seed + i)
console.log(
  `${tally.expressions} expressions (${tally.invalid} refused), ${tally.costs} costs, ` +
    `${tally.objects} objects: ${tally.differences} differences`,
)
if (tally.differences > 0) process.exitCode = 1
