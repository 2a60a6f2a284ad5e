/**
 * Random requests about a few objects of a random kind, to a real server and to this one: resource
 * versions and paging, selectors, watches, representations, bodies, patches, deletions, methods and
 * paths. Their answers must be the same, headers of weight included.
 *
 *   node tools/run.mjs file conformance/fuzz-requests.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--only REGEX]
 *
 * `--only` keeps to some families of questions, or to some resources. Each scene has a seed of its
 * own, printed with the first difference: `--seed THAT --count 1` plays it again.
 */
import type { Json } from '#api/object-meta.ts'
import { Random } from './random.ts'
import { families } from './random-requests.ts'
import type { Scene } from './scene.ts'
import { type Sample, sampleFor, samples } from './sample-objects.ts'
import {
  type Difference,
  type Step,
  settingsOf,
  showDifference,
  type TwoServers,
} from './two-servers.ts'

type Body = { [key: string]: Json }

const questionsPerScene = 12
/** A watch cache hears of a write a moment after its answer. */
const settleMs = 60

function sceneOf(sample: Sample, id: string): Scene {
  const { path } = sampleFor(sample, id)
  return {
    id,
    at: `/${sample.at}`,
    plural: sample.plural,
    collection: path,
    namespaced: sample.namespaced,
    names: ['a', 'b', 'c', 'd', 'e'].map((name) => (sample.namespaced ? name : `${id}-${name}`)),
    object(name) {
      const { object } = sampleFor(sample, id)
      const metadata: Body = { name, labels: { n: name.replace(`${id}-`, ''), run: id } }
      return { ...object, metadata }
    },
  }
}

interface Found {
  readonly family: string
  readonly difference: Difference
  readonly steps: readonly Step[]
}

async function play(
  seed: number,
  from: readonly Sample[],
  chosen: readonly string[],
  id: string,
  servers: TwoServers,
): Promise<readonly Found[]> {
  const random = new Random(seed)
  const scene = sceneOf(random.pick(from), id)
  const found: Found[] = []
  servers.forget()
  for (const name of scene.names) {
    await servers.ask({ method: 'POST', path: scene.collection, body: scene.object(name) }, id)
  }
  for (let i = 0; i < questionsPerScene; i++) {
    const family = random.pick(chosen)
    const steps = families[family]?.(random, scene) ?? []
    for (const [at, step] of steps.entries()) {
      if (step.method === 'GET' || step.method === 'HEAD') await settled(servers)
      const { difference } = await servers.ask(step, id)
      if (difference === undefined) continue
      found.push({ family, difference, steps: steps.slice(0, at + 1) })
      break
    }
  }
  for (const name of scene.names) await remove(`${scene.collection}/${name}`, id, servers)
  for (const name of ['new', 'doomed', 'other', 'missing', 'x']) {
    const full = scene.namespaced ? name : `${id}-${name}`
    await remove(`${scene.collection}/${full}`, id, servers)
  }
  return found
}

async function settled(servers: TwoServers): Promise<void> {
  const since = Date.now() - servers.lastWriteAtMs
  if (since < settleMs) await new Promise((resolve) => setTimeout(resolve, settleMs - since))
}

async function remove(path: string, id: string, servers: TwoServers): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { metadata: { finalizers: null } }
  const { want } = await servers.ask({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` }, id)
  if (want.status === 404) return
  await servers.ask({ method: 'PATCH', path, headers, body }, id)
  await servers.ask({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` }, id)
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  const wanted = (name: string) => only === undefined || only.test(name)
  // The server itself writes to the objects that configure its queues.
  const free = samples.filter(({ at }) => !at.includes('flowcontrol'))
  const some = free.filter(({ plural }) => wanted(plural))
  const chosen = Object.keys(families).filter(wanted)
  const from = some.length > 0 ? some : free
  const id = `f${Date.now().toString(36)}`
  await servers.makeNamespace(id)
  let different = 0
  try {
    for (let i = 0; i < count; i++) {
      const families_ = chosen.length > 0 ? chosen : Object.keys(families)
      const found = await play(seed + i, from, families_, id, servers)
      if (found.length > 0) different++
      for (const { family, difference, steps } of found) {
        console.log(`seed ${seed + i}, ${family}:`)
        for (const { method, path, headers, body } of steps) {
          console.log(
            `    ${method} ${path} ${JSON.stringify(headers ?? {})} ${JSON.stringify(body) ?? ''}`,
          )
        }
        console.log(`  ${showDifference(difference)}`)
      }
      if (found.length > 0 && !keepGoing) break
    }
  } finally {
    await servers.deleteNamespace(id)
  }
  console.log(`${count} scenes from seed ${seed}, ${different} with a difference`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
