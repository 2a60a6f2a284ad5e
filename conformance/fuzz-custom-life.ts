/**
 * The life of one custom kind on two servers: defined, its objects written and read in every way
 * there is, redefined, removed. It ends at the first difference: from there on the servers hold
 * different objects.
 */
import type { Random } from './random.ts'
import { randomDefinition } from './random-definition.ts'
import { objectSchema, randomSchema, randomValue } from './random-schema.ts'
import type { Step } from './two-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects are JSON of any shape
type Any = any

/** Both answered alike: the answer; otherwise nothing. */
export type Ask = (what: string, step: Step) => Promise<Any>

const managers = ['one', 'two', 'three']
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'

export class Life {
  readonly #random: Random
  readonly #group: string
  readonly #ask: Ask
  readonly #definition: Any
  #over = false
  #count = 0

  constructor(random: Random, group: string, ask: Ask) {
    this.#random = random
    this.#group = group
    this.#ask = ask
    this.#definition = randomDefinition(random, group)
  }

  async define(path: string): Promise<boolean> {
    const seen = await this.#ask('define', { method: 'POST', path, body: this.#definition })
    return seen?.status === 201
  }

  async live(steps: number): Promise<void> {
    for (let i = 0; i < steps && !this.#over; i++) await this.#step()
  }

  /**
   * Something about the definition changes; what it was stays wanted where the change is refused.
   */
  async redefine(definitions: string): Promise<void> {
    if (this.#over) return
    const random = this.#random
    const spec = this.#definition.spec
    const version = random.pick<Any>(spec.versions)
    const patch = random.pick<() => Any>([
      () => ({ names: { shortNames: [`n${this.#group.split('.')[0]}`], categories: null } }),
      () => ({ scope: spec.scope === 'Cluster' ? 'Namespaced' : 'Cluster' }),
      () => ({ names: { kind: 'Other', listKind: 'Others' } }),
      () => ({ versions: spec.versions.slice(0, 1) }),
      () => ({ versions: [...spec.versions, { ...version, name: 'v3', storage: false }] }),
      () => ({
        versions: spec.versions.map((one: Any) => ({
          ...one,
          schema: {
            openAPIV3Schema: { ...one.schema.openAPIV3Schema, properties: this.#fields() },
          },
        })),
      }),
      () => ({ versions: spec.versions.map((one: Any) => ({ ...one, subresources: null })) }),
      () => ({ preserveUnknownFields: true }),
      () => ({ conversion: { strategy: 'Webhook' } }),
    ])()
    const seen = await this.#say({
      method: 'PATCH',
      path: `${definitions}/gears.${this.#group}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: patch },
    })
    if (seen?.status !== 200) return
    Object.assign(spec, patch, { names: { ...spec.names, ...patch.names } })
  }

  #fields(): Any {
    const random = this.#random
    return {
      spec: objectSchema(random, 2),
      status: objectSchema(random, 2),
      new: randomSchema(random, 1),
    }
  }

  async end(definitions: string): Promise<void> {
    const path = `${definitions}/gears.${this.#group}`
    await this.#say({ method: 'GET', path, headers: { accept: table } })
    await this.#ask('end', { method: 'DELETE', path })
  }

  async #say(step: Step): Promise<Any> {
    const shown = JSON.stringify(this.#definition.spec).slice(0, 2500)
    const seen = await this.#ask(`${this.#group} ${shown}`, step)
    if (seen === undefined) this.#over = true
    return seen
  }

  #path(version: Any): string {
    const place = this.#definition.spec.scope === 'Cluster' ? '' : '/namespaces/default'
    return `/apis/${this.#group}/${version.name}${place}/gears`
  }

  #object(version: Any, name: string | undefined, wrong: number): Any {
    const schema = version.schema.openAPIV3Schema
    const value = randomValue(this.#random, schema, wrong)
    const whole = value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
    return {
      ...whole,
      apiVersion: `${this.#group}/${version.name}`,
      kind: 'Gear',
      metadata: { ...(name !== undefined && { name }), ...this.#metadata() },
    }
  }

  #metadata(): Any {
    const random = this.#random
    return random.chance(0.8)
      ? {}
      : random.pick<Any>([
          { labels: { a: 'b' } },
          { labels: { 'a b': 'c' } },
          { labels: { a: 1 } },
          { annotations: { a: 'b' }, bogus: 1 },
          { finalizers: ['x'] },
          { generateName: 'x-' },
          { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] },
          { labels: null },
          { annotations: [] },
        ])
  }

  async #step(): Promise<void> {
    const random = this.#random
    const version = random.pick<Any>(this.#definition.spec.versions)
    const path = this.#path(version)
    const name = random.pick(['ga', 'gb'])
    const wrong = random.pick([0, 0, 0.04])
    const query = `fieldManager=${random.pick(managers)}`
    const sub = random.pick(['', '', '', '/status'])
    if (this.#count++ < 2) {
      const body = this.#object(version, name, 0)
      await this.#say({ method: 'POST', path: `${path}?${query}`, body })
      return
    }
    const ways: readonly (() => Promise<Any>)[] = [
      () =>
        this.#say({
          method: 'POST',
          path: `${path}?${query}`,
          body: this.#object(version, name, wrong),
        }),
      () => this.#apply(version, `${path}/${name}${sub}?${query}`, name, wrong),
      () => this.#apply(version, `${path}/${name}${sub}?${query}&force=true`, name, wrong),
      () => this.#patch(`${path}/${name}${sub}?${query}`, 'merge', this.#change(version, wrong)),
      () => this.#patch(`${path}/${name}${sub}?${query}`, 'json', this.#operations()),
      () => this.#replace(version, `${path}/${name}`, sub, name, wrong),
      () => this.#say({ method: 'GET', path: `${path}/${name}${sub}` }),
      () => this.#say({ method: 'GET', path: `${path}/${name}`, headers: { accept: table } }),
      () =>
        this.#say({
          method: 'GET',
          path,
          headers: { accept: random.pick([table, partial, 'application/json']) },
        }),
      () => this.#say({ method: 'GET', path: `${path}/${name}/scale` }),
      () =>
        this.#patch(`${path}/${name}/scale?${query}`, 'merge', {
          spec: { replicas: random.pick([0, 3, -1]) },
        }),
      () => this.#scale(`${path}/${name}/scale?${query}`, name),
      () => this.#say({ method: 'GET', path: `/apis/${this.#group}/${version.name}` }),
      () => this.#patch(`${path}/${name}?${query}`, 'strategic-merge', {}),
      () => this.#say({ method: 'DELETE', path: `${path}/${name}` }),
    ]
    await random.pick(ways)()
  }

  #apply(version: Any, path: string, name: string, wrong: number): Promise<Any> {
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    return this.#say({ method: 'PATCH', path, headers, body: this.#object(version, name, wrong) })
  }

  #patch(path: string, type: 'merge' | 'json' | 'strategic-merge', body: Any): Promise<Any> {
    return this.#say({
      method: 'PATCH',
      path,
      headers: { 'content-type': `application/${type}-patch+json` },
      body,
    })
  }

  #change(version: Any, wrong: number): Any {
    const { apiVersion: _, kind: __, ...rest } = this.#object(version, undefined, wrong)
    return rest
  }

  #operations(): Any {
    const random = this.#random
    const path = random.pick([
      '/spec/a',
      '/spec/b',
      '/status',
      '/spec',
      '/metadata/labels',
      '/kind',
      '/x',
    ])
    const value = structuredClone(random.pick<Any>([1, 'a', {}, { a: 1 }, [], null, true]))
    return [{ op: random.pick(['add', 'replace', 'remove', 'test']), path, value }]
  }

  async #replace(
    version: Any,
    path: string,
    sub: string,
    name: string,
    wrong: number,
  ): Promise<void> {
    const object = this.#object(version, name, wrong)
    if (this.#random.chance(0.3)) {
      // An update without a version: custom kinds refuse it.
      await this.#say({ method: 'PUT', path: path + sub, body: object })
      return
    }
    await this.#patch(`${path}${sub}?fieldManager=put`, 'merge', object)
  }

  #scale(path: string, name: string): Promise<Any> {
    const replicas = this.#random.pick<Any>([0, 1, 7, -1, null])
    const namespace = this.#definition.spec.scope === 'Cluster' ? {} : { namespace: 'default' }
    const body = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: this.#random.pick([name, name, 'other']), ...namespace },
      spec: { replicas },
    }
    return this.#say({ method: 'PUT', path, body })
  }
}
