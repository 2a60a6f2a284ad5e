/**
 * Conversations in the shapes of the recordings, held with a real server and with this one: their
 * answers must be the same. The objects are those of the recordings, of the samples, and of a
 * folder of manifests; seeds choose among them.
 *
 *   node tools/run.mjs file conformance/fuzz-conversations.ts --peer URL --ours URL [--seed N]
 *       [--count N]
 *       [--only REGEX] [--shape NAME] [--manifests FOLDER] [--every]
 *
 * `--every` takes each object once, in order, instead of choosing. `--only` is matched against
 * `shape plural name`.
 */
import { join, resolve } from 'node:path'
import type { Json } from '#api/object-meta.ts'
import { type Base, basesOf, objectsIn, type Place, recordedObjects } from './base-objects.ts'
import { type Shape, shapes } from './conversations.ts'
import { Random } from './random.ts'
import { samples } from './sample-objects.ts'
import { declaredValues, typeOf } from './types-of-facts.ts'
import { type Settings, type Step, settingsOf, showDifference } from './two-servers.ts'

interface Version {
  readonly minor?: string
}

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

/**
 * Every kind that can be created, by `apiVersion kind`, and the places that show the same objects.
 */
async function placesOf({ servers }: Settings) {
  const read = async <T>(path: string) => (await servers.askPeer({ method: 'GET', path })) as T
  const places = new Map<string, Place>()
  const versions = ['v1']
  const { groups } = await read<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis')
  for (const group of groups) versions.push(...group.versions.map((one) => one.groupVersion))
  for (const apiVersion of versions) {
    const at = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { resources = [] } = await read<{ resources?: Resource[] }>(at)
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('create') || !verbs.includes('list')) continue
      places.set(`${apiVersion} ${kind}`, { at, plural: name, namespaced })
    }
  }
  return places
}

const shared = new Set([
  'events',
  'deployments',
  'daemonsets',
  'replicasets',
  'ingresses',
  'networkpolicies',
  'podsecuritypolicies',
])

/** The other versions of a kind: of its group, and of the groups that some kinds moved between. */
function othersOf(base: Place, places: Iterable<Place>): Place[] {
  const group = ({ at }: Place) => at.split('/').slice(0, -1).join('/')
  return [...places].filter(
    (place) =>
      place.plural === base.plural && (group(place) === group(base) || shared.has(base.plural)),
  )
}

async function hold(settings: Settings, steps: readonly Step[], id: string): Promise<string[]> {
  const found: string[] = []
  for (const raw of steps) {
    const step = JSON.parse(JSON.stringify(raw).replaceAll('{id}', id)) as Step
    const { difference } = await settings.servers.ask(step, id)
    if (difference === undefined) continue
    const body = JSON.stringify(raw.body)?.slice(0, 1500) ?? ''
    found.push(
      `${raw.method} ${raw.path} ${JSON.stringify(raw.headers ?? {})}\n    ${body}\n  ${showDifference(difference)}`,
    )
  }
  return found
}

async function main(): Promise<number> {
  const settings = await settingsOf(process.argv.slice(2), {
    shape: { type: 'string' },
    manifests: { type: 'string' },
    every: { type: 'boolean', default: false },
    golden: { type: 'string', default: resolve(import.meta.dirname, '../../shared/golden') },
  })
  const { seed, count, only, keepGoing, servers, more } = settings
  const places = await placesOf(settings)
  const { minor = '' } = (await servers.askPeer({ method: 'GET', path: '/version' })) as Version
  const release = Number.parseInt(minor, 10)
  const declared = declaredValues()
  const objects = [
    ...recordedObjects(more.golden as string),
    ...samples.map(({ object }) => object as { [key: string]: Json }),
  ]
  if (typeof more.manifests === 'string') objects.push(...objectsIn(join(more.manifests)))
  const bases = basesOf(objects, places)
  const names = typeof more.shape === 'string' ? more.shape.split(',') : Object.keys(shapes)
  const run = `f${Date.now().toString(36)}`
  let held = 0
  let different = 0
  const end = more.every === true ? bases.length * names.length : count
  for (let i = 0; i < end; i++) {
    const random = new Random(seed + i)
    const base = (
      more.every === true ? bases[Math.floor(i / names.length)] : random.pick(bases)
    ) as Base
    const name = (more.every === true ? names[i % names.length] : random.pick(names)) as string
    const title = `${name} ${base.at} ${base.plural} ${(base.object.metadata as { name: string }).name}`
    if (only !== undefined && !only.test(title)) continue
    const steps = (shapes[name] as Shape)(base, random, {
      others: othersOf(base, places.values()),
      type: typeOf(base.object.apiVersion as string, base.object.kind as string, release),
      declared,
    })
    const id = `${run}-${i.toString(36)}`
    if (name !== 'mangled') await servers.makeNamespace(id)
    else if (held === 0) await servers.makeNamespace(run)
    const found = await hold(settings, steps, name === 'mangled' ? run : id)
    held++
    if (found.length === 0) continue
    different++
    console.log(`seed ${seed + i}: ${title}\n  ${found.join('\n  ')}`)
    if (!keepGoing) break
  }
  console.log(
    `${held} conversations from seed ${seed} about ${bases.length} objects, ${different} answered differently`,
  )
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
