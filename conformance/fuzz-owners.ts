/**
 * Three managers at one object of a random kind: applies, forced applies, updates, patches of every
 * type, removals, in any version it is served in, at its status and its scale, some of them dry
 * runs. After every step the answers of a real server and of this one must be the same, managed
 * fields and all.
 *
 *   node tools/run.mjs file conformance/fuzz-owners.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--only REGEX]
 *
 * Each sequence has a seed of its own, printed with the first difference: `--seed THAT --count 1`
 * holds it again.
 */
import type { Json } from '#api/object-meta.ts'
import type { Struct } from '#schema/type.ts'
import { damage, grow } from './damage.ts'
import { otherVersions, scaled } from './other-versions.ts'
import { Random } from './random.ts'
import { randomValue } from './random-value.ts'
import { type Sample, sampleFor, samples } from './sample-objects.ts'
import {
  type Difference,
  type Step,
  settingsOf,
  showDifference,
  type TwoServers,
} from './two-servers.ts'
import { declaredValues, typeOf } from './types-of-facts.ts'

type Body = { [key: string]: Json }

const stepsPerSequence = 8
const declared = declaredValues()
const managers = ['one', 'two', 'three']

/** What the sequence knows: the samples it changes, and where its object is. */
class Sequence {
  readonly #random: Random
  readonly #kind: Sample
  readonly #namespace: string
  readonly #collection: string
  readonly #name: string
  #type: Struct
  #sample: Body
  /** Where the next step goes: the object itself, or another version of it. */
  #place: string

  constructor(seed: number, from: readonly Sample[], id: string) {
    this.#random = new Random(seed)
    this.#kind = this.#random.pick(from)
    this.#namespace = id
    const { object, path } = sampleFor(this.#kind, id)
    this.#name = `${id}-${seed}`
    ;(object.metadata as Body).name = this.#name
    this.#sample = object
    this.#collection = path
    this.#type = typeOf(object.apiVersion as string, object.kind as string)
    this.#place = this.path
  }

  /** Another version of the object to go on with, or undefined to stay. */
  otherPlace(): string | undefined {
    const { at, plural } = this.#kind
    const others = otherVersions[plural] ?? []
    if (others.length === 0 || this.#random.chance(0.6)) return undefined
    return this.path.replace(`/${at}/`, `/${this.#random.pick([at, ...others])}/`)
  }

  /** Goes on with the object as it is there. */
  moveTo(place: string, live: Body): void {
    const { name, namespace, labels } = live.metadata as Body
    const { status: _, ...rest } = live
    this.#place = place
    this.#sample = {
      ...rest,
      metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) } as Body,
    }
    this.#type = typeOf(live.apiVersion as string, live.kind as string)
  }

  get path(): string {
    return `${this.#collection}/${this.#name}`
  }

  first(): Step {
    if (this.#random.chance(0.5)) return this.#apply()
    const manager = this.#random.pick(managers)
    const body = this.#variant(0.1)
    return { method: 'POST', path: `${this.#collection}?fieldManager=${manager}`, body }
  }

  next(): Step {
    const roll = this.#random.next()
    const step = roll < 0.12 ? this.#status() : roll < 0.2 ? this.#scale() : this.#main()
    return this.#random.chance(0.15) ? { ...step, path: `${step.path}&dryRun=All` } : step
  }

  #main(): Step {
    switch (this.#random.below(8)) {
      case 0:
      case 1:
      case 2:
        return this.#apply()
      case 3:
        return this.#put()
      case 4:
        return this.#patch('merge-patch', this.#change())
      case 5:
        return this.#patch('strategic-merge-patch', this.#change())
      case 6:
        return this.#patch('json-patch', this.#operations())
      default:
        return this.#random.chance(0.2) ? this.#reset() : this.#apply()
    }
  }

  #apply(config = this.#variant(0.5)): Step {
    const { method, path, headers, body } = this.#patch('apply-patch', config)
    const force = this.#random.chance(0.4) ? '&force=true' : ''
    return {
      method,
      path: path + force,
      headers: { ...headers, 'content-type': 'application/apply-patch+yaml' },
      body,
    }
  }

  #status(): Step {
    const field = this.#type.byName.get('status')
    if (field === undefined) return this.#main()
    const { apiVersion, kind } = this.#sample
    const status = randomValue(field.type, 'status', this.#random, declared)
    const metadata = { name: this.#name }
    const step =
      this.#random.below(3) > 0
        ? this.#apply({ apiVersion, kind, metadata, status } as Body)
        : this.#patch('merge-patch', { status })
    return { ...step, path: step.path.replace('?', '/status?') }
  }

  #scale(): Step {
    if (!scaled.has(this.#kind.plural)) return this.#main()
    const spec = { replicas: this.#random.below(4) }
    const metadata = { name: this.#name, namespace: this.#namespace }
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec }
    const manager = this.#random.pick(managers)
    const step = this.#random.pick<() => Step>([
      () => this.#apply(scale),
      () => this.#patch('merge-patch', { spec }),
      () => ({ method: 'PUT', path: `${this.#place}?fieldManager=${manager}`, body: scale }),
    ])()
    return { ...step, path: step.path.replace('?', '/scale?') }
  }

  #put(): Step {
    const manager = this.#random.pick(managers)
    return {
      method: 'PUT',
      path: `${this.#place}?fieldManager=${manager}`,
      body: this.#variant(0.2),
    }
  }

  #patch(type: string, body: Json): Step {
    const manager = this.#random.pick(managers)
    const headers = { 'content-type': `application/${type}+json` }
    return { method: 'PATCH', path: `${this.#place}?fieldManager=${manager}`, headers, body }
  }

  #reset(): Step {
    return this.#patch('merge-patch', { metadata: { managedFields: [{}] } })
  }

  /** The sample with fields left out, fields grown, and sometimes something wrong. */
  #variant(leftOut: number): Body {
    const random = this.#random
    const object = structuredClone(this.#sample)
    for (const name of Object.keys(object)) {
      if (!['apiVersion', 'kind', 'metadata'].includes(name)) thin(object, name, leftOut, random)
    }
    const metadata = object.metadata as Body
    if (random.chance(0.5))
      metadata.labels = { [random.pick(['a', 'b', 'app'])]: random.pick(['1', '2']) }
    if (random.chance(0.3))
      metadata.annotations = { [random.pick(['a', 'b'])]: random.pick(['1', '2']) }
    for (let i = random.below(3); i > 0; i--) grow(this.#type, object, random, declared)
    if (random.chance(0.1)) damage(object, random)
    metadata.name = this.#name
    delete metadata.generateName
    return object
  }

  /** What differs between two variants makes a patch of a few fields. */
  #change(): Body {
    const { apiVersion: _, kind: __, metadata, ...rest } = this.#variant(0.6)
    const { name: ___, ...fields } = metadata as Body
    const body = this.#random.chance(0.5) ? { metadata: fields } : rest
    if (this.#random.chance(0.2)) (fields as Body).labels = { a: null }
    return body
  }

  #operations(): Json {
    const random = this.#random
    const labels = random.pick<Json>([{ a: '1' }, { b: '2' }, {}])
    return random.pick<Json>([
      [{ op: 'add', path: '/metadata/labels', value: labels }],
      [{ op: 'remove', path: '/metadata/labels/a' }],
      [{ op: 'add', path: '/metadata/annotations', value: { a: '1' } }],
      [{ op: 'remove', path: '/metadata/annotations' }],
      [{ op: 'replace', path: '/metadata/labels/app', value: 'other' }],
    ])
  }
}

/** Leaves out members at random; the keys of list items stay. */
function thin(holder: Body, name: string, probability: number, random: Random): void {
  const value = holder[name]
  const isKey = ['name', 'port', 'containerPort', 'mountPath', 'key', 'type', 'ip'].includes(name)
  if (!isKey && random.chance(probability * 0.5)) {
    delete holder[name]
    return
  }
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    if (random.chance(probability * 0.3)) value.splice(0, 1)
    for (const item of value) {
      if (item === null || typeof item !== 'object' || Array.isArray(item)) continue
      for (const member of Object.keys(item)) thin(item, member, probability, random)
    }
    return
  }
  for (const member of Object.keys(value)) thin(value, member, probability, random)
}

interface Found {
  readonly difference: Difference
  readonly steps: readonly Step[]
}

/**
 * The one thing that this server cannot remember. kube-apiserver stores a `caBundle` that was
 * written empty as empty bytes, never returns it, and increments the generation when the next write
 * leaves it out.
 */
const isEmptyBundle = ({ path }: Difference, steps: readonly Step[]): boolean =>
  path === 'body.metadata.generation' && JSON.stringify(steps).includes('"caBundle":""')

/**
 * Nor empty bytes, which kube-apiserver drops from an immutable object, and then rejects the
 * change.
 */
const isEmptyBytes = ({ path, want }: Difference, steps: readonly Step[]): boolean =>
  path === 'status' &&
  want === 422 &&
  /"(binaryData|data)":\{[^}]*:""/.test(JSON.stringify(steps)) &&
  JSON.stringify(steps).includes('"immutable":true')

/**
 * A defect of kube-apiserver: the response to a dry run over an autoscaler is merged into the
 * previous object, whose metrics and conditions remain where the new one has none.
 */
const isLaidOver = ({ path }: Difference, steps: readonly Step[]): boolean =>
  /^body\.(spec\.metrics\[\d+\]$|status\.(conditions|currentMetrics))/.test(path) &&
  /horizontalpodautoscalers.*dryRun/.test(steps.at(-1)?.path ?? '')

async function hold(
  seed: number,
  from: readonly Sample[],
  id: string,
  servers: TwoServers,
): Promise<Found | undefined> {
  const sequence = new Sequence(seed, from, id)
  const steps: Step[] = []
  try {
    for (let i = 0; i < stepsPerSequence; i++) {
      const place = i === 0 ? undefined : sequence.otherPlace()
      const there = place && ((await servers.askPeer({ method: 'GET', path: place })) as Body)
      if (place && there && there.kind !== undefined) sequence.moveTo(place, there)
      const step = i === 0 ? sequence.first() : sequence.next()
      steps.push(step)
      const { difference } = await servers.askOften(step, id)
      if (difference !== undefined) {
        const isKnown = [isEmptyBundle, isEmptyBytes, isLaidOver]
        const known = isKnown.some((is) => is(difference, steps))
        return known ? undefined : { difference, steps }
      }
      const live = await servers.ask({ method: 'GET', path: sequence.path }, id)
      if (live.difference !== undefined) return { difference: live.difference, steps }
    }
  } finally {
    await servers.ask({ method: 'DELETE', path: `${sequence.path}?gracePeriodSeconds=0` }, id)
  }
  return undefined
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  // The server itself writes to the objects that configure its queues.
  const free = samples.filter(({ at }) => !at.includes('flowcontrol'))
  const from = free.filter(({ plural }) => only === undefined || only.test(plural))
  const id = `f${Date.now().toString(36)}`
  await servers.makeNamespace(id)
  let different = 0
  try {
    for (let i = 0; i < count; i++) {
      const found = await hold(seed + i, from, id, servers)
      if (found === undefined) continue
      different++
      console.log(`seed ${seed + i}:`)
      for (const { method, path, headers, body } of found.steps) {
        console.log(
          `    ${method} ${path} ${headers?.['content-type'] ?? ''} ${JSON.stringify(body)}`,
        )
      }
      console.log(`  ${showDifference(found.difference)}`)
      if (!keepGoing) break
    }
  } finally {
    await servers.deleteNamespace(id)
  }
  console.log(`${count} sequences from seed ${seed}, ${different} with a difference`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
