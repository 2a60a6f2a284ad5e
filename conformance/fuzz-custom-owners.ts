/**
 * As fuzz-owners.ts, of custom kinds: managers at one object, in two versions with schemas of their
 * own, whose lists and maps turn from being owned item by item to being owned whole, and back,
 * while they are owned.
 *
 *   node tools/run.mjs file conformance/fuzz-custom-owners.ts --peer URL --ours URL [--seed N]
 *       [--count N]
 *
 * Each definition has a seed of its own, and so have the sequences that are held with it: as many
 * objects, eight steps each before the definition turns and four after. `--seed THAT --count 1`
 * holds one definition's again.
 */
import type { Json } from '#api/object-meta.ts'
import { definitionsPath, gearDefinition, gearVersion } from './gear-definition.ts'
import { Random } from './random.ts'
import { ownedKind, ownedValue, turned } from './random-owned.ts'
import type { ComparedResponse } from './compared-response.ts'
import {
  type Difference,
  type Step,
  settingsOf,
  showDifference,
  type TwoServers,
} from './two-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas are JSON of any shape
type Any = any
type Body = { [name: string]: Json }

const objectsPerDefinition = 10
/** How often a life that ends in a difference is lived again. */
const repeatsMax = 3
const stepsBefore = 8
const stepsAfter = 4
/**
 * kube-apiserver needs about this long before the first object of a new kind, and until a changed
 * one is served.
 */
const settleMs = 2500
const few = ['one', 'two', 'three']
/** More than are kept apart. */
const many = [...'abcdefghijklmn'].map((name) => `m${name}`)

interface Version {
  readonly name: string
  schema: Any
  readonly status: boolean
}

const definitionOf = (group: string, versions: readonly Version[]): Any =>
  gearDefinition(
    group,
    versions.map(({ name, schema, status }, i) =>
      gearVersion(name, schema, i === 0, status ? { subresources: { status: {} } } : {}),
    ),
  )

/** One object, and what is done to it. */
class Sequence {
  readonly #random: Random
  readonly #group: string
  readonly #versions: readonly Version[]
  readonly name: string
  readonly #managers: readonly string[]
  readonly steps: Step[] = []

  constructor(seed: number, group: string, versions: readonly Version[], name: string) {
    this.#random = new Random(seed)
    this.#group = group
    this.#versions = versions
    this.name = name
    this.#managers = this.#random.chance(0.15) ? many : few
  }

  path(version = this.#versions[0] as Version): string {
    return `/apis/${this.#group}/${version.name}/namespaces/default/gears/${this.name}`
  }

  next(): Step {
    const random = this.#random
    const version = random.pick(this.#versions)
    if (this.steps.length === 0 && random.chance(0.5)) {
      const path = this.path(version).replace(/\/[^/]*$/, '')
      const body = this.#object(version, 0)
      return { method: 'POST', path: `${path}?${this.#manager()}`, body }
    }
    const part = version.status && random.chance(0.2) ? '/status' : ''
    const dry = random.chance(0.1) ? '&dryRun=All' : ''
    const place = `${this.path(version)}${part}?${this.#manager()}${dry}`
    const wrong = random.chance(0.15) ? 0.05 : 0
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        return this.#apply(place, version, wrong)
      case 3:
        return this.#apply(`${place}&force=true`, version, wrong)
      case 4:
        return this.#put(place, version, wrong)
      case 5:
        return patchOf('merge', place, this.#change(version, wrong))
      case 6:
        return patchOf('json', place, this.#operations())
      default:
        return random.chance(0.2)
          ? patchOf('merge', place, { metadata: { managedFields: [{}] } })
          : this.#apply(place, version, wrong)
    }
  }

  #manager = (): string => `fieldManager=${this.#random.pick(this.#managers)}`

  #apply(path: string, version: Version, wrong: number): Step {
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    return { method: 'PATCH', path, headers, body: this.#object(version, wrong) }
  }

  /** An update must name the version it was made from: each server's own. */
  #put(path: string, version: Version, wrong: number): Step {
    const body = this.#object(version, wrong)
    ;(body.metadata as Body).resourceVersion = '$rv'
    return { method: 'PUT', path, body }
  }

  #object(version: Version, wrong: number): Body {
    const value = ownedValue(version.schema, this.#random, wrong)
    const whole = value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
    return {
      ...whole,
      apiVersion: `${this.#group}/${version.name}`,
      kind: 'Gear',
      metadata: {
        name: this.name,
        ...(this.#random.chance(0.2) && {
          labels: { [this.#random.pick(['a', 'b'])]: this.#random.pick(['1', '2']) },
        }),
      },
    }
  }

  #change(version: Version, wrong: number): Json {
    const { apiVersion: _, kind: __, metadata: ___, ...rest } = this.#object(version, wrong)
    return rest
  }

  #operations(): Json {
    const random = this.#random
    const path = `/${random.pick(['spec', 'spec', 'status'])}/${random.pick(['a', 'b', 'c', 'd'])}`
    const value = structuredClone(random.pick<Json>([1, 'x', {}, { a: 1 }, [], [{ k: 'x' }]]))
    return [{ op: random.pick(['add', 'replace', 'remove']), path, value }]
  }
}

const patchOf = (type: string, path: string, body: Json): Step => ({
  method: 'PATCH',
  path,
  headers: { 'content-type': `application/${type}-patch+json` },
  body,
})

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, settleMs))

/** Which of several undeclared fields is reported is random, and it ends the report. */
function comparable(seen: ComparedResponse): ComparedResponse {
  const { message } = (seen.body ?? {}) as { message?: unknown }
  if (typeof message !== 'string' || !message.includes('field not declared in schema')) return seen
  return { ...seen, body: message.replace(/:[\s\S]*/, '') }
}

/** What else a reset brings about is owned here: a decision. */
const isDecided = ({ path }: Difference, { body }: Step): boolean =>
  path.startsWith('body.metadata.managedFields') && JSON.stringify(body).includes('[{}]')

/** undefined: the same so far. */
async function hold(
  sequence: Sequence,
  count: number,
  id: string,
  servers: TwoServers,
): Promise<Difference | 'passed over' | undefined> {
  for (let i = 0; i < count; i++) {
    // What `$rv` stands for is of this object.
    const live = await servers.ask({ method: 'GET', path: sequence.path() }, id)
    if (live.difference !== undefined) return live.difference
    const step = sequence.next()
    sequence.steps.push(step)
    const { difference } = await servers.askOften(step, id, comparable)
    if (difference !== undefined) return isDecided(difference, step) ? 'passed over' : difference
  }
  return (await servers.ask({ method: 'GET', path: sequence.path() }, id)).difference
}

/** By object, what differed. */
type Found = Map<string, string>

const told = (definition: Any, steps: readonly Step[], difference: Difference): string =>
  [
    JSON.stringify(definition),
    ...steps.map(({ method, path, headers, body }) =>
      [`    ${method}`, path, headers?.['content-type'] ?? '', JSON.stringify(body)].join(' '),
    ),
    `  ${showDifference(difference)}`,
  ].join('\n')

async function live(seed: number, id: string, servers: TwoServers): Promise<Found | 'refused'> {
  const random = new Random(seed)
  const group = `${id}-${seed}.example.com`
  const first = { name: 'v1', schema: ownedKind(random), status: random.chance(0.6) }
  const second = { ...first, name: 'v2', ...(random.chance(0.5) && { schema: ownedKind(random) }) }
  const versions: Version[] = random.chance(0.5) ? [first] : [first, second]
  const definition = definitionOf(group, versions)
  const made = await servers.ask({ method: 'POST', path: definitionsPath, body: definition }, id)
  const found: Found = new Map()
  if (made.difference !== undefined) found.set('', told(definition, [], made.difference))
  if (made.want.status !== 201) return found.size > 0 ? found : 'refused'
  await settled()
  let going = Array.from(
    { length: objectsPerDefinition },
    (_, i) => new Sequence(seed * 100 + i, group, versions, `g${i}`),
  )
  const holdAll = async (count: number) => {
    const all = going
    going = []
    for (const one of all) {
      const difference = await hold(one, count, id, servers)
      if (difference === undefined) going.push(one)
      else if (difference !== 'passed over')
        found.set(one.name, told(definition, one.steps, difference))
    }
  }
  await holdAll(stepsBefore)
  for (const version of versions) version.schema = turned(version.schema, random)
  const path = `${definitionsPath}/gears.${group}`
  const turn = patchOf('merge', path, { spec: definitionOf(group, versions).spec })
  await servers.ask(turn, id)
  for (const one of going) one.steps.push(turn)
  await settled()
  await holdAll(stepsAfter)
  await servers.ask({ method: 'DELETE', path }, id)
  return found
}

/**
 * If owners use two versions, kube-apiserver restores what they own in the order of a map: a
 * difference that appears only now and then is random there.
 */
async function liveOften(
  seed: number,
  id: string,
  servers: TwoServers,
): Promise<Found | 'refused'> {
  let found = await live(seed, id, servers)
  for (let i = 0; i < repeatsMax && found !== 'refused' && found.size > 0; i++) {
    const again = await live(seed, `${id}${i}`, servers)
    if (again === 'refused') return again
    found = new Map([...again].filter(([name]) => (found as Found).has(name)))
  }
  return found
}

async function main(): Promise<number> {
  const { seed, count, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  const id = `o${Date.now().toString(36)}`
  let held = 0
  let different = 0
  for (let i = 0; i < count && (keepGoing || different === 0); i++) {
    const found = await liveOften(seed + i, id, servers)
    if (found === 'refused') continue
    held += objectsPerDefinition
    different += found.size
    for (const text of found.values()) console.log(`seed ${seed + i}: ${text}`)
  }
  console.log(`${held} sequences from seed ${seed}, ${different} with a difference`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
