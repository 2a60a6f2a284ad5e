/**
 * The definitions that controllers come with, and objects of them, on two servers that must answer
 * alike. Definitions are created, each object lives a whole life, and discovery and OpenAPI of
 * their groups are compared at the end.
 *
 *   node tools/run.mjs file conformance/charts.ts --peer URL --ours URL --folder DIR
 *       [--only REGEX] [--keep-going] [--seed 1] [--count 10]
 *
 * The folder holds YAML or JSON, definitions and objects in any order and nesting. `--only` is
 * matched against `Kind name`. Everything that was created is removed again. Each object also has
 * `count` damaged copies, which are sent as dry runs of creates and of updates, and each version of
 * a kind `count` objects made from its schema.
 */
import type { Json } from '#api/object-meta.ts'
import { type Body, isMap, objectsIn } from './base-objects.ts'
import type { ComparedResponse } from './compared-response.ts'
import { damage } from './damage.ts'
import { definitionsPath } from './gear-definition.ts'
import { Random } from './random.ts'
import { randomValue } from './random-schema.ts'
import { type Settings, settingsOf, showDifference, type Step } from './two-servers.ts'

/**
 * kube-apiserver needs about this long before the first object of a new kind, and for its OpenAPI.
 */
const settleMs = 6000
/** How much of a request is shown, in characters. */
const shownMax = 4000
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

interface Place {
  readonly path: string
  readonly namespaced: boolean
  readonly hasStatus: boolean
  readonly schema: Body
}

const metaOf = (object: Body): Body => (isMap(object.metadata) ? object.metadata : {})

/** By `apiVersion kind`, where objects of a definition are. */
function placesOf(definitions: readonly Body[]): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const { spec } of definitions as unknown as { spec: Spec }[]) {
    for (const { name, subresources, schema } of spec.versions.filter((one) => one.served)) {
      const namespaced = spec.scope === 'Namespaced'
      const space = namespaced ? '/namespaces/default' : ''
      places.set(`${spec.group}/${name} ${spec.names.kind}`, {
        path: `/apis/${spec.group}/${name}${space}/${spec.names.plural}`,
        namespaced,
        hasStatus: subresources?.status !== undefined,
        schema: schema?.openAPIV3Schema ?? {},
      })
    }
  }
  return places
}

interface Spec {
  readonly group: string
  readonly scope: string
  readonly names: { readonly plural: string; readonly kind: string }
  readonly versions: readonly {
    readonly name: string
    readonly served: boolean
    readonly subresources?: { readonly status?: object }
    readonly schema?: { readonly openAPIV3Schema?: Body }
  }[]
}

const patch = (path: string, type: string, body: unknown): Step => ({
  method: 'PATCH',
  path,
  headers: { 'content-type': `application/${type}` },
  body,
})

/**
 * A life, in which every verb has its turn. In a step `$rv` is the latest version that the same
 * server returned.
 */
function stepsOf(object: Body, { path, hasStatus }: Place, copies: readonly Body[]): Step[] {
  const metadata = metaOf(object)
  const one = `${path}/${metadata.name}`
  const labelled = { ...metadata, labels: { ...(metadata.labels as Body), chart: 'a' } }
  const current = { ...labelled, resourceVersion: '$rv' }
  const get: Step = { method: 'GET', path: one }
  const status = object.status ?? { conditions: [] }
  return [
    { method: 'POST', path: `${path}?fieldManager=creator`, body: object },
    { method: 'POST', path, body: object },
    get,
    { ...get, headers: { accept: table } },
    { ...get, headers: { accept: 'application/yaml' } },
    { method: 'PUT', path: one, body: { ...object, metadata: current } },
    { method: 'PUT', path: one, body: { ...object, metadata: labelled } },
    ...copies.map((body): Step => ({ method: 'PUT', path: `${one}?dryRun=All`, body })),
    patch(`${one}?fieldManager=merger`, 'merge-patch+json', {
      metadata: { annotations: { merged: 'yes' } },
      spec: { unknownToAll: 1 },
    }),
    patch(one, 'json-patch+json', [{ op: 'add', path: '/metadata/labels', value: { l: 'b' } }]),
    patch(one, 'strategic-merge-patch+json', {}),
    patch(`${one}?fieldManager=applier`, 'apply-patch+yaml', object),
    patch(`${one}?fieldManager=applier&force=true`, 'apply-patch+yaml', object),
    ...(hasStatus
      ? [
          patch(`${one}/status?fieldManager=controller`, 'merge-patch+json', { status }),
          get,
          { method: 'PUT', path: `${one}/status`, body: { ...object, metadata: current, status } },
          patch(`${one}/status?fieldManager=applier&force=true`, 'apply-patch+yaml', {
            ...object,
            status,
          }),
        ]
      : []),
    get,
    { method: 'GET', path },
    { method: 'GET', path, headers: { accept: table } },
    { method: 'GET', path, headers: { accept: partial } },
    patch(one, 'merge-patch+json', { metadata: { finalizers: null } }),
    { method: 'DELETE', path: one },
  ]
}

/** Copies of an object with up to three things wrong. */
function damagedCopies(object: Body, random: Random, count: number): Body[] {
  return Array.from({ length: count }, () => {
    const copy = structuredClone(object)
    for (let left = 1 + random.below(3); left > 0; left--) damage(copy, random)
    return copy
  })
}

/** A share of the values made from a schema has another type. */
const wrongShare = 0.02

/** Objects made from the schema of a version, some of them with values of other types. */
function madeObjects(place: string, { schema }: Place, random: Random, count: number): Body[] {
  const [apiVersion = '', kind = ''] = place.split(' ')
  return Array.from({ length: count }, (_, at) => {
    const wrong = random.chance(0.5) ? wrongShare : 0
    const made = randomValue(random, schema, wrong)
    return { ...(isMap(made) ? made : {}), apiVersion, kind, metadata: { name: `made-${at}` } }
  })
}

/** Conditions of a definition have the order in which controllers of kube-apiserver wrote them. */
function sorted(seen: ComparedResponse): ComparedResponse {
  const { kind, status } = (seen.body ?? {}) as { kind?: string; status?: Body }
  if (kind !== 'CustomResourceDefinition' || !Array.isArray(status?.conditions)) return seen
  const conditions = status.conditions.toSorted((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1))
  return { ...seen, body: { ...(seen.body as Body), status: { ...status, conditions } } }
}

const typeOf = (condition: Json): string => String((condition as { type?: string }).type)

class Run {
  readonly #settings: Settings
  asked = 0
  different = 0

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Whether both answered alike, and with what status. */
  async ask(title: string, step: Step): Promise<number> {
    const { want, difference } = await this.#settings.servers.askOften(step, '{id}', sorted)
    this.asked++
    if (difference === undefined) return want.status
    this.different++
    const { method, path, body = '' } = step
    const sent = `${method} ${path} ${JSON.stringify(body)}`.slice(0, shownMax)
    process.stdout.write(`✗ ${title}\n  ${sent}\n  ${showDifference(difference)}\n`)
    if (!this.#settings.keepGoing) this.end()
    return want.status
  }

  /** One part of a document that both have. */
  async askPart(title: string, path: string, part: (document: Json) => Json): Promise<void> {
    const step = { method: 'GET', path }
    const difference = await this.#settings.servers.askPart(step, (body) => part(body as Json))
    this.asked++
    if (difference === undefined) return
    this.different++
    process.stdout.write(`✗ ${title}\n  ${showDifference(difference)}\n`)
  }

  end(): never {
    process.stdout.write(`${this.asked - this.different} of ${this.asked} answers the same\n`)
    process.exit(this.different === 0 ? 0 : 1)
  }
}

/** kube-apiserver lists the kinds of a group in random order. */
function byName(document: Json): Json {
  const { resources, ...rest } = document as { resources: { name: string }[] }
  return { ...rest, resources: resources.sort((a, b) => (a.name < b.name ? -1 : 1)) } as Json
}

/** Every server describes in words of its own. */
const withoutProse = (document: object): Json =>
  JSON.parse(
    JSON.stringify(document, (key, value) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  ) as Json

/** kube-apiserver names parameters by a hash of their prose: each is put where it is used. */
const withParameters = (document: object, shared: Body): object =>
  JSON.parse(
    JSON.stringify(document, (_, value) => {
      const name = /^#\/parameters\/(.*)/.exec(value?.$ref ?? '')?.[1]
      return name === undefined ? value : (shared[name] ?? value)
    }),
  ) as object

/** What OpenAPI says of some groups: their paths, and what these lead to. */
function openApiOf(document: Json, groups: ReadonlySet<string>): Json {
  const { paths, definitions, parameters } = document as { [name: string]: Body }
  const ofGroup = (path: string) => groups.has(path.split('/')[2] ?? '')
  const found = Object.entries(paths).filter(([path]) => ofGroup(path))
  const shared = isMap(parameters) ? parameters : {}
  const reversed = [...groups].map((group) => `${group.split('.').reverse().join('.')}.`)
  const named = Object.entries(definitions).filter(([name]) =>
    reversed.some((start) => name.startsWith(start)),
  )
  const inPlace = withParameters({ paths: Object.fromEntries(found) }, shared)
  return withoutProse({ ...inPlace, definitions: Object.fromEntries(named) })
}

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, settleMs))

async function main(): Promise<void> {
  const settings = await settingsOf(process.argv.slice(2), { folder: { type: 'string' } })
  if (typeof settings.more.folder !== 'string') throw new Error('say --folder DIR')
  const objects = objectsIn(settings.more.folder)
  const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
  const places = placesOf(definitions)
  const random = new Random(settings.seed)
  const run = new Run(settings)
  for (const body of definitions) {
    delete body.status
    await run.ask(`definition ${metaOf(body).name}`, {
      method: 'POST',
      path: definitionsPath,
      body,
    })
  }
  await settled()
  for (const object of objects) {
    const place = places.get(`${object.apiVersion} ${object.kind}`)
    const { name, namespace: _, resourceVersion: __, uid: ___, ...metadata } = metaOf(object)
    const title = `${object.kind} ${name}`
    if (place === undefined || typeof name !== 'string') continue
    if (settings.only !== undefined && !settings.only.test(title)) continue
    settings.servers.forget()
    const whole = { ...object, metadata: { ...metadata, name } }
    const copies = damagedCopies(whole, random, settings.count)
    for (const body of copies)
      await run.ask(title, { method: 'POST', path: `${place.path}?dryRun=All`, body })
    for (const step of stepsOf(whole, place, copies)) await run.ask(title, step)
  }
  for (const [name, place] of places) {
    if (settings.only !== undefined && !settings.only.test(name)) continue
    for (const body of madeObjects(name, place, random, settings.count))
      await run.ask(name, { method: 'POST', path: `${place.path}?dryRun=All`, body })
  }
  const groups = new Set(definitions.map(({ spec }) => (spec as unknown as Spec).group))
  for (const group of groups) {
    await run.ask(`discovery ${group}`, { method: 'GET', path: `/apis/${group}` })
  }
  for (const at of new Set([...places].map(([name]) => name.split(' ')[0]))) {
    await run.askPart(`discovery ${at}`, `/apis/${at}`, byName)
  }
  for (const group of groups) {
    const only = new Set([group])
    await run.askPart(`openapi ${group}`, '/openapi/v2', (body) => openApiOf(body, only))
  }
  for (const body of definitions) {
    await run.ask(`end ${metaOf(body).name}`, {
      method: 'DELETE',
      path: `${definitionsPath}/${metaOf(body).name}`,
    })
  }
  run.end()
}

await main()
