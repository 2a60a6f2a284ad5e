/**
 * Random patches of every type at objects of random kinds, in any version they are served in and at
 * their subresources. The answers of a real server and of this one must be the same, in every word,
 * and so must the object afterwards.
 *
 *   node tools/run.mjs file conformance/fuzz-patches.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--only REGEX]
 *
 * Where kube-apiserver's own answers differ from one time to the next, the choice is random.
 */
import type { Json } from '#api/object-meta.ts'
import type { Struct } from '#schema/type.ts'
import { grow } from './damage.ts'
import { otherVersions } from './other-versions.ts'
import { Random } from './random.ts'
import { randomJsonPatch, randomMergePatch, StrategicPatches } from './random-patch.ts'
import type { ComparedResponse } from './compared-response.ts'
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

const stepsPerObject = 10
const declared = declaredValues()
const managers = ['one', 'two', 'three']

interface Found {
  readonly difference: Difference
  readonly steps: readonly Step[]
}

class Patched {
  readonly #random: Random
  readonly #strategic: StrategicPatches
  readonly #sample: Sample
  readonly #object: Body
  readonly #collection: string
  readonly #name: string

  constructor(seed: number, from: readonly Sample[], id: string) {
    this.#random = new Random(seed)
    this.#strategic = new StrategicPatches(this.#random, declared)
    this.#sample = this.#random.pick(from)
    const { object, path } = sampleFor(this.#sample, id)
    this.#name = `${id}-${seed}`
    ;(object.metadata as Body).name = this.#name
    this.#object = object
    this.#collection = path
  }

  get path(): string {
    return `${this.#collection}/${this.#name}`
  }

  first(): Step {
    const type = typeOf(this.#object.apiVersion as string, this.#object.kind as string)
    const body = structuredClone(this.#object)
    if (this.#random.chance(0.5)) grow(type, body, this.#random, declared)
    ;(body.metadata as Body).name = this.#name
    return { method: 'POST', path: `${this.#collection}?fieldManager=one`, body }
  }

  /**
   * Where the next patch goes: the object itself, in another version of it, or one of its
   * subresources.
   */
  place(): string {
    const { at, plural } = this.#sample
    const others = otherVersions[plural] ?? []
    const version = others.length > 0 && this.#random.chance(0.5) ? this.#random.pick(others) : at
    const path = this.path.replace(`/${at}/`, `/${version}/`)
    return path + this.#random.pick(['', '', '', '', '', '', '/status', '/scale'])
  }

  patch(place: string, live: Body): Step {
    const random = this.#random
    const dry = random.chance(0.3) ? '&dryRun=All' : ''
    const path = `${place}?fieldManager=${random.pick(managers)}${dry}`
    const type = random.pick([
      'merge-patch',
      'json-patch',
      'strategic-merge-patch',
      'strategic-merge-patch',
    ])
    const headers = { 'content-type': `application/${type}+json` }
    const body =
      type === 'json-patch'
        ? randomJsonPatch(random, live)
        : type === 'merge-patch'
          ? randomMergePatch(random, live)
          : this.#strategic.next(structOf(live), live)
    return { method: 'PATCH', path, headers, body }
  }
}

const structOf = ({ apiVersion, kind }: Body): Struct =>
  typeOf(apiVersion as string, kind as string)

/** The object without versions and identities, which are each server's own. */
function shared(live: Body): Body {
  const { managedFields: _, creationTimestamp: __, ...metadata } = live.metadata as Body
  const told: Body = { ...live, metadata: { ...metadata, resourceVersion: '$rv' } }
  if (live.kind === 'Service') {
    const {
      clusterIP: ___,
      clusterIPs: ____,
      healthCheckNodePort: _____,
      ...spec
    } = live.spec as Body
    told.spec = spec
  }
  return JSON.parse(JSON.stringify(told).replaceAll(String(metadata.uid), '$uid'))
}

/**
 * What stands behind a whole object in a message counts, but for the place a decoder stopped at.
 */
function comparable(seen: ComparedResponse): ComparedResponse {
  const { body } = seen
  // A failure of kube-apiserver counts here: it rejects many patches that way.
  const status = seen.status === 500 ? 599 : seen.status
  if (body === null || typeof body !== 'object') return { ...seen, status }
  const said = structuredClone(body) as { message?: string; details?: { causes?: Cause[] } }
  if (typeof said.message === 'string') said.message = withoutWhole(said.message)
  for (const cause of said.details?.causes ?? []) cause.message = withoutWhole(cause.message)
  return { ...seen, status, body: said }
}
/**
 * Names that each server chose for itself, its versions where a name should be, and resets, which
 * are a decision.
 */
const namesChosen = ({ body }: Step): boolean =>
  /kube-api-access-|name","value":"\$rv"|managedFields(\/0)?("|":\[|","value":(\[|\{))/.test(
    JSON.stringify(body),
  )

/**
 * What this server does not remember: a fraction of a second, which kube-apiserver sees in a write
 * and does not store, and empty bytes, which it distinguishes from none.
 */
const isUnseen = ({ path }: Difference, steps: readonly Step[]): boolean =>
  (path === 'body.metadata.generation' || /causes/.test(path)) &&
  /05\.123456Z|"caBundle":""|"Secret"/.test(JSON.stringify(steps))

/** A version that is no number is refused by this server as one that is gone. */
const namesNoVersion = ({ body }: Step): boolean =>
  /resourceVersion"(?!:("\$rv"|"\d*"|null|\d|"\}))/.test(JSON.stringify(body)) ||
  /(path":"\/metadata\/resourceVersion)/.test(JSON.stringify(body))

interface Cause {
  message: string
}
const withoutWhole = (message: string): string =>
  message
    .replace(/(version|kind) "\d+"/g, '$1 "<rv>"')
    .replace(/"\{[\s\S]*\}": /, '<whole>: ')
    .replace(
      /<whole>: [\s\S]*(error found in #|cannot be handled as a|cannot unmarshal|unmarshalerDecoder)[\s\S]*/,
      '<whole>: <where>',
    )
    .replace(/, error found in #[\s\S]*/, ', <where>')

async function hold(
  seed: number,
  from: readonly Sample[],
  id: string,
  servers: TwoServers,
): Promise<Found | undefined> {
  const patched = new Patched(seed, from, id)
  const steps = [patched.first()]
  const made = await servers.ask(steps[0] as Step, id)
  if (made.want.status !== 201) return undefined
  try {
    for (let i = 0; i < stepsPerObject; i++) {
      const place = patched.place()
      const live = (await servers.askPeer({ method: 'GET', path: place })) as Body
      if (live.kind === undefined) continue
      const step = patched.patch(place, shared(live))
      if (namesNoVersion(step) || namesChosen(step)) continue
      steps.push(step)
      const { difference } = await servers.askOften(step, id, comparable)
      if (difference !== undefined) {
        return isUnseen(difference, steps) ? undefined : { difference, steps }
      }
      const after = await servers.ask({ method: 'GET', path: patched.path }, id)
      if (after.difference !== undefined) return { difference: after.difference, steps }
    }
  } finally {
    await servers.ask(
      {
        method: 'PATCH',
        path: patched.path,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata: { finalizers: null } },
      },
      id,
    )
    await servers.ask({ method: 'DELETE', path: `${patched.path}?gracePeriodSeconds=0` }, id)
  }
  return undefined
}

/** kube-apiserver panics at values that it cannot hash, and closes the connection. */
function orHungUp(error: Error & { code?: string }): undefined {
  if (error.code !== 'ECONNRESET') throw error
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  // The server itself writes to the objects that configure its queues.
  const free = samples.filter(({ at }) => !at.includes('flowcontrol'))
  const from = free.filter(({ plural }) => only === undefined || only.test(plural))
  const id = `p${Date.now().toString(36)}`
  await servers.makeNamespace(id)
  let different = 0
  try {
    for (let i = 0; i < count; i++) {
      const found = await hold(seed + i, from, id, servers).catch(orHungUp)
      if (found === undefined) continue
      different++
      console.log(`seed ${seed + i}:`)
      for (const { method, path, headers, body } of found.steps) {
        const type = headers?.['content-type'] ?? ''
        console.log(`    ${method} ${path} ${type} ${JSON.stringify(body)}`)
      }
      console.log(`  ${showDifference(found.difference)}`)
      if (!keepGoing) break
    }
  } finally {
    await servers.deleteNamespace(id)
  }
  console.log(`${count} objects from seed ${seed}, ${different} with a difference`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
