/**
 * Priority and fairness: assigns each request to a flow schema and a priority level, where it runs,
 * waits or is rejected. The configuration can change at any time; levels keep their queues.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sharesField } from '#api/priority-shares.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { FlowMeters, SchemaMeter } from './flow-meters.ts'
import { compileRule, type FlowRequest, type FlowRule, type FlowUser } from './flow-rules.ts'
import { QueueSet } from './queue-set.ts'
import { deal, flowHash, hashBitsMax, neededBits } from './shuffle-shard.ts'
import { flowSchemas, priorityLevels } from './bootstrap.ts'

/**
 * The maximum number of cached flows per schema: enough for the users of a cluster. Above it, the
 * cache is cleared.
 */
const flowsMax = 10_000

export interface Flow {
  readonly hand: readonly number[]
  readonly schema: Schema
  readonly distinguisher: string
}

export interface PriorityLevel {
  readonly name: string
  readonly uid: string
  readonly spec: Loose
  /** Undefined for the exempt level, which has no limit. */
  queues: QueueSet<Flow> | undefined
  /** The level was deleted, but still runs or queues requests. */
  quiescing: boolean
}

export interface Schema {
  readonly name: string
  readonly uid: string
  readonly level: PriorityLevel
  readonly precedence: number
  readonly byUser: boolean
  readonly byNamespace: boolean
  readonly rules: readonly FlowRule[]
  readonly flows: Map<string, Flow>
  readonly meter: SchemaMeter
  /** The schema and the level of the request, for the response headers. */
  readonly headers: {
    readonly 'x-kubernetes-pf-flowschema-uid': string
    readonly 'x-kubernetes-pf-prioritylevel-uid': string
  }
}

export interface FlowControlOptions {
  readonly release: number
  /** The total number of concurrent requests, which the limited levels share. */
  readonly concurrencyMax: number
  readonly waitMsMax: number
  readonly after: (ms: number, call: () => void) => () => void
  readonly meters: FlowMeters
  readonly report: (message: string) => void
}

export class FlowControl {
  readonly #options: FlowControlOptions
  #levels = new Map<string, PriorityLevel>()
  #schemas: Schema[] = []
  /** The objects of the current configuration. */
  #objects: readonly [levels: readonly KubeObject[], schemas: readonly KubeObject[]] = [[], []]
  /** Number of deleted levels that still run requests. */
  #quiescing = 0
  /** The schemas that can match a user, in order of precedence. */
  #matching = new WeakMap<FlowUser, Schema[]>()

  constructor(options: FlowControlOptions) {
    this.#options = options
    this.configure([], [], 0)
  }

  get levels(): Iterable<PriorityLevel> {
    return this.#levels.values()
  }

  get schemas(): readonly Schema[] {
    return this.#schemas
  }

  configure(
    levelObjects: readonly KubeObject[],
    schemaObjects: readonly KubeObject[],
    nowMs: number,
  ): void {
    const { release } = this.#options
    this.#objects = [levelObjects, schemaObjects]
    const given = new Map<string, { uid: string; spec: Loose }>()
    for (const { metadata, spec } of levelObjects) {
      const problem = levelProblem(metadata.name ?? '', spec ?? {})
      if (problem !== undefined)
        this.#options.report(`the priority level ${metadata.name} is left out: ${problem}`)
      else given.set(metadata.name ?? '', { uid: metadata.uid ?? '', spec: spec ?? {} })
    }
    for (const { name, spec, mandatory } of priorityLevels(release)) {
      if (mandatory && !given.has(name)) given.set(name, { uid: '', spec })
    }
    this.#configureLevels(given, nowMs)
    const wanted = [...schemaObjects]
      .filter(({ spec }) => given.has(spec?.priorityLevelConfiguration?.name))
      .map(({ metadata, spec }) => ({
        name: metadata.name ?? '',
        uid: metadata.uid ?? '',
        spec: spec ?? {},
      }))
    for (const { name, spec, mandatory } of flowSchemas(release)) {
      if (mandatory && !wanted.some((one) => one.name === name))
        wanted.push({ name, uid: '', spec })
    }
    this.#schemas = wanted.map((one) => this.#schemaOf(one)).sort(byPrecedence)
    this.#options.meters.keep(
      new Set(this.#levels.keys()),
      this.#schemas.map(({ name, level }) => ({ level: level.name, schema: name })),
    )
    this.#matching = new WeakMap()
  }

  #configureLevels(given: ReadonlyMap<string, { uid: string; spec: Loose }>, nowMs: number): void {
    const levels = new Map<string, PriorityLevel>()
    for (const [name, { uid, spec }] of given) {
      levels.set(name, {
        name,
        uid,
        spec,
        queues: this.#levels.get(name)?.queues,
        quiescing: false,
      })
    }
    this.#quiescing = 0
    for (const [name, level] of this.#levels) {
      if (levels.has(name) || level.queues === undefined || level.queues.isIdle) continue
      this.#quiescing++
      levels.set(name, { ...level, quiescing: true })
    }
    let shares = 0
    const field = sharesField(releaseOf(this.#options.release))
    for (const { spec } of levels.values()) shares += spec.limited?.[field] ?? 0
    const { concurrencyMax, waitMsMax, after, meters } = this.#options
    for (const level of levels.values()) {
      const { limited } = level.spec
      if (limited === undefined) {
        level.queues = undefined
        continue
      }
      const concurrency = Math.ceil((concurrencyMax * limited[field]) / shares)
      const queuing = limited.limitResponse?.queuing
      const limits = {
        concurrency,
        queues: queuing?.queues ?? 0,
        queueLengthMax: queuing?.queueLengthLimit ?? 0,
        waitMsMax,
      }
      if (level.queues === undefined) level.queues = new QueueSet<Flow>(limits, after)
      else level.queues.reconfigure(limits, nowMs)
      meters.limit(level.name, concurrency)
    }
    this.#levels = levels
  }

  #schemaOf({ name, uid, spec }: { name: string; uid: string; spec: Loose }): Schema {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name) as PriorityLevel
    const method = spec.distinguisherMethod?.type
    return {
      name,
      uid,
      level,
      precedence: spec.matchingPrecedence ?? 1000,
      byUser: method === 'ByUser',
      byNamespace: method === 'ByNamespace',
      rules: (spec.rules ?? []).map(compileRule),
      flows: new Map(),
      meter: this.#options.meters.of(level.name, name),
      headers: {
        'x-kubernetes-pf-flowschema-uid': uid,
        'x-kubernetes-pf-prioritylevel-uid': level.uid,
      },
    }
  }

  /** The first schema that matches; the last one matches everything. */
  classify(user: FlowUser, request: FlowRequest): Schema {
    let matching = this.#matching.get(user)
    if (matching === undefined) {
      matching = this.#schemas.filter(({ rules }) => rules.some((rule) => rule.concerns(user)))
      this.#matching.set(user, matching)
    }
    for (const schema of matching) {
      for (const rule of schema.rules) {
        if (rule.matches(request) && (schema.rules.length === 1 || rule.concerns(user)))
          return schema
      }
    }
    return this.#schemas[this.#schemas.length - 1]
  }

  flowOf(schema: Schema, user: FlowUser, request: FlowRequest): Flow {
    const distinguisher = schema.byUser ? user.name : schema.byNamespace ? request.namespace : ''
    const known = schema.flows.get(distinguisher)
    if (known !== undefined) return known
    const { queues = 0, handSize = 0 } = schema.level.spec.limited?.limitResponse?.queuing ?? {}
    const hand = queues === 0 ? [] : deal(flowHash(schema.name, distinguisher), queues, handSize)
    const flow = { hand, schema, distinguisher }
    if (schema.flows.size >= flowsMax) schema.flows.clear()
    schema.flows.set(distinguisher, flow)
    return flow
  }

  /**
   * Called when a request has left its level. A quiescing level is removed with its last request,
   * and its concurrency shares return to the other levels. The request may hold an outdated level:
   * the level may have been deleted or recreated since the request started.
   */
  left({ name, queues }: PriorityLevel, nowMs: number): void {
    if (this.#quiescing === 0 || queues?.isIdle !== true) return
    if (this.#levels.get(name)?.quiescing) this.configure(...this.#objects, nowMs)
  }
}

const byPrecedence = (a: Schema, b: Schema) =>
  a.precedence - b.precedence || (a.name < b.name ? -1 : 1)

function levelProblem(name: string, spec: Loose): string | undefined {
  const exempt = spec.type === 'Exempt'
  if (exempt !== (spec.limited === undefined))
    return 'its type and its limits contradict each other'
  if (exempt !== (name === 'exempt')) return 'only the level of that name is exempt'
  if (exempt) return undefined
  const { type, queuing } = spec.limited.limitResponse ?? {}
  if ((type === 'Reject') !== (queuing === undefined)) return 'it both rejects and queues'
  if (queuing === undefined) return undefined
  const { queues, handSize } = queuing
  const dealable =
    queues > 0 && handSize > 0 && handSize <= queues && neededBits(queues, handSize) <= hashBitsMax
  return dealable ? undefined : `hands of ${handSize} cannot be dealt from ${queues} queues`
}
