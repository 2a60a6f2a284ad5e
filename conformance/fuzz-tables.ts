/**
 * Random objects with random statuses, some of them on their way out, made on a real server and on
 * this one: the tables that both show of them must be the same to the letter, but for ages of
 * seconds. So must the answers to the writes.
 *
 *   node tools/run.mjs file conformance/fuzz-tables.ts --peer URL --ours URL [--seed N]
 *       [--count N] [--only REGEX]
 *
 * Works for every release: the other server says which it is. Each object has a seed of its own,
 * printed with a difference.
 */
import { setTimeout } from 'node:timers/promises'
import type { Json } from '#api/object-meta.ts'
import { Random } from './random.ts'
import { randomStatus } from './random-status.ts'
import { type TableKind, tableKinds, tableMetadata } from './table-objects.ts'
import {
  type Difference,
  settingsOf,
  showDifference,
  type Step,
  type TwoServers,
} from './two-servers.ts'
import { declaredValues, typeOf } from './types-of-facts.ts'

type Body = { [key: string]: Json }
interface Place {
  readonly apiVersion: string
  readonly plural: string
  readonly namespaced: boolean
  readonly subresources: ReadonlySet<string>
  readonly kind: TableKind
}
interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

const declared = declaredValues()
const rootOf = (apiVersion: string) =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`

/** Where the other server has the kinds; those it has not are left out. */
async function placesOf(servers: TwoServers): Promise<Place[]> {
  const known = new Map<string, readonly Resource[]>()
  const places: Place[] = []
  for (const kind of tableKinds) {
    for (const apiVersion of kind.versions) {
      if (!known.has(apiVersion)) {
        const said = await servers.askPeer({ method: 'GET', path: rootOf(apiVersion) })
        known.set(apiVersion, (said as { resources?: Resource[] }).resources ?? [])
      }
      const resources = known.get(apiVersion) as readonly Resource[]
      const found = resources.find((one) => one.kind === kind.kind && !one.name.includes('/'))
      if (found === undefined) continue
      const { name: plural, namespaced } = found
      const subresources = resources
        .filter(({ name }) => name.startsWith(`${plural}/`))
        .map(({ name }) => name.split('/')[1] as string)
      places.push({ apiVersion, plural, namespaced, subresources: new Set(subresources), kind })
    }
  }
  return places
}

const fixedNames: Readonly<Record<string, string>> = {
  APIService: 'v1.odd.example.com',
  CustomResourceDefinition: 'things.odd.example.com',
}

function objectOf(place: Place, id: string, random: Random, now: number): Body {
  const { apiVersion, namespaced, kind } = place
  const name = fixedNames[kind.kind] ?? (namespaced ? 'x' : `${id}-x`)
  const metadata = { name, ...tableMetadata(random) }
  return { apiVersion, kind: kind.kind, metadata, ...kind.body(random, now) }
}

/** Whose status the servers themselves keep up to date, within moments. */
const keptByServers = new Set(['APIService', 'CustomResourceDefinition', 'FlowSchema'])

const settleMs = 700

/**
 * kube-apiserver applies defaults again when it reads what it wrote: amounts written empty, which
 * for that reason have no owner, are there again. Ours are owned with the others, so this is not
 * compared.
 */
function withoutEmptyAmounts(status: Json): Json {
  const { allocatable, ...rest } = status as Body
  return Object.keys((allocatable ?? {}) as Body).length === 0 ? rest : status
}

const accepts = ['v1', 'v1beta1'].map(
  (version) => `application/json;as=Table;v=${version};g=meta.k8s.io`,
)

/** The steps of one object's life: made, its status written, perhaps on its way out. */
function stepsOf(place: Place, object: Body, release: number, random: Random, now: number) {
  const { apiVersion, kind, namespaced, plural, subresources } = place
  const { name } = object.metadata as { name: string }
  const collection = `${rootOf(apiVersion)}${namespaced ? '/namespaces/{id}' : ''}/${plural}`
  const path = `${collection}/${name}`
  const steps: Step[] = [{ method: 'POST', path: collection, body: object }]
  const statusType = typeOf(apiVersion, kind.kind, release).byName.get('status')?.type
  const isKept = keptByServers.has(kind.kind)
  if (statusType !== undefined && !isKept) {
    for (const subresource of ['approval', 'status']) {
      if (!subresources.has(subresource)) continue
      const status = withoutEmptyAmounts(randomStatus(statusType, 'status', random, declared, now))
      steps.push({ method: 'PUT', path: `${path}/${subresource}`, body: { ...object, status } })
    }
  }
  const gone: Step = { method: 'DELETE', path }
  if (!isKept && random.chance(0.2)) steps.push(gone)
  const asked = (query: string): Step => ({
    method: 'GET',
    path: query,
    headers: { accept: random.pick(accepts) },
  })
  const includes = isKept ? 'None' : random.pick(['None', 'None', 'Metadata', 'Object'])
  const selector = `fieldSelector=metadata.name%3D${name}`
  steps.push(asked(`${path}?includeObject=${includes}`))
  steps.push(asked(`${collection}?includeObject=${includes}&${selector}`))
  const end: Step[] = [
    gone,
    {
      method: 'PATCH',
      path,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { finalizers: null } },
    },
    { method: 'DELETE', path: `${path}?gracePeriodSeconds=0` },
  ]
  return { steps, end }
}

interface Table {
  readonly rows?: readonly { cells?: readonly Json[] }[] | null
}

/** Ages of seconds grow between the requests to the two servers. */
const young = /^\d{1,3}s$/
const withoutYouth = (table: Table): unknown => ({
  ...table,
  rows: table.rows?.map((row) => ({
    ...row,
    cells: row.cells?.map((cell) =>
      typeof cell === 'string' && young.test(cell) ? '<young>' : cell,
    ),
  })),
})

async function play(servers: TwoServers, steps: readonly Step[], id: string, pauseMs: number) {
  const found: [Step, Difference][] = []
  let accepted = 0
  for (const raw of steps) {
    const step = JSON.parse(JSON.stringify(raw).replaceAll('{id}', id)) as Step
    const { want, difference } =
      step.method === 'GET'
        ? await servers.askExactly(step, id, (body) => withoutYouth(body as Table))
        : await servers.ask(step, id)
    if (want.status < 300) accepted++
    // 1.15 does not forbid caches; nothing is gained by allowing them.
    if (difference !== undefined && difference.path !== 'cache-control') {
      found.push([step, difference])
    }
    if (raw.method !== 'POST') continue
    if (want.status >= 300) break
    if (pauseMs > 0) await setTimeout(pauseMs)
  }
  return { found, accepted }
}

async function main(): Promise<number> {
  const { seed, count, only, keepGoing, servers } = await settingsOf(process.argv.slice(2))
  const version = await servers.askPeer({ method: 'GET', path: '/version' })
  const release = Number.parseInt((version as { minor: string }).minor, 10)
  const places = (await placesOf(servers)).filter(
    ({ kind }) => only === undefined || only.test(kind.kind),
  )
  const run = `t${Date.now().toString(36)}`
  await servers.makeNamespace(run)
  let different = 0
  let asked = 0
  let accepted = 0
  for (let i = 0; i < count; i++) {
    const random = new Random(seed + i)
    const now = Date.now()
    const place = random.pick(places)
    const object = objectOf(place, run, random, now)
    const { steps, end } = stepsOf(place, object, release, random, now)
    const result = await play(
      servers,
      steps,
      run,
      keptByServers.has(place.kind.kind) ? settleMs : 0,
    )
    for (const step of end) {
      await servers.ask(JSON.parse(JSON.stringify(step).replaceAll('{id}', run)), run)
    }
    asked += steps.length
    accepted += result.accepted
    if (result.found.length === 0) continue
    different++
    for (const [step, difference] of result.found) {
      const body = JSON.stringify(step.body ?? steps.at(-3)?.body)
      console.log(`seed ${seed + i}: ${step.method} ${step.path}\n    ${body}`)
      console.log(`  ${showDifference(difference)}`)
    }
    if (!keepGoing) break
  }
  await servers.deleteNamespace(run)
  console.log(
    `${count} objects from seed ${seed}, ${accepted} of ${asked} answers were no refusals, ${different} objects differ`,
  )
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
