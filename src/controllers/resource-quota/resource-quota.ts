/**
 * Recomputes `status.used` of resource quotas: when the limits change, when a counted object is
 * deleted or may use less, and periodically. It never recounts after a create. Admission has
 * already charged the new object, so a recount before the watch event would admit one object too
 * many.
 * The controller watches a kind only while a quota counts it, and keeps no objects in memory.
 */
import { calculateUsage } from '#admission/quota/calculate.ts'
import type { Lookup } from '#admission/quota/evaluator.ts'
import { Evaluators } from '#admission/quota/evaluators.ts'
import { amountsOf, listOf, only, sameAmounts } from '#admission/quota/resource-amounts.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { pause } from '#client/backoff.ts'
import type { ServedResource } from '#client/client.ts'
import type { Informer } from '#client/informer.ts'
import { reflect } from '#client/reflector.ts'
import type { WorkQueue } from '#client/work-queue.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { resourceQuotas } from '#controllers/resources.ts'

/** Interval of the periodic recount of all quotas. */
const recountMs = 300_000
/** Delay that combines many deletions into one recount. */
const afterReleaseMs = 50
/** Recounting a large namespace may take at most one part in this many of the time. */
const restFactor = 4
/** Delay of the recount after a list, which is less urgent. */
const afterListMs = 1000

interface Times {
  /**
   * How often discovery is read again. A quota may count a kind that is installed later or served
   * in another version.
   */
  readonly followMs: number
}

export const quotaController = quotaControllerWith({ followMs: 30_000 })

export function quotaControllerWith({ followMs }: Times): Controller {
  return {
    name: 'resourcequota',
    account: 'resourcequota-controller',
    start: (parts) => new QuotaController(parts).start(followMs),
  }
}

class QuotaController {
  readonly #parts: ControllerParts
  readonly #quotas: Informer<KubeObject>
  readonly #queue: WorkQueue
  readonly #evaluators: Evaluators
  /** By `group/version/plural`: how to stop following it. */
  readonly #followed = new Map<string, AbortController>()
  /** Duration of the last count of each quota. */
  readonly #tookMs = new Map<string, number>()

  constructor(parts: ControllerParts) {
    const { feature, clock, release } = parts
    this.#parts = parts
    this.#quotas = parts.informers.quotas()
    this.#evaluators = new Evaluators({
      feature,
      release: releaseOf(release),
      now: () => clock.now(),
    })
    this.#queue = queueFor('resourcequota', parts, (key) => this.#measured(key))
  }

  start(followMs: number): void {
    const follow = async () => {
      await this.#follow()
      return this.#quotas.size === 0 ? undefined : followMs
    }
    const again = queueFor('resourcequota', this.#parts, follow, { workersMax: 1 })
    this.#quotas.listen({
      changed: (quota, previous) => {
        const isDue = !isCounted(quota)
        if (isDue) this.#queue.add(keyOf(quota))
        if (isDue || previous === undefined) again.addAfter('kinds', afterReleaseMs)
      },
      deleted: (quota) => {
        this.#tookMs.delete(keyOf(quota))
        again.addAfter('kinds', afterListMs)
      },
    })
    void this.#recount()
  }

  async #recount(): Promise<void> {
    const { signal } = this.#parts
    while (!signal.aborted) {
      await pause(recountMs, signal)
      for (const quota of this.#quotas.values()) this.#queue.add(keyOf(quota))
    }
  }

  async #countedKinds(names: Iterable<string>): Promise<ServedResource[]> {
    const wanted = [...new Set(names)]
    if (wanted.length === 0) return []
    return (await this.#parts.client.resources()).filter(({ group, plural, namespaced, verbs }) => {
      if (!namespaced || !verbs.has('list') || !verbs.has('watch')) return false
      const evaluator = this.#evaluators.of(group, plural)
      return evaluator !== undefined && wanted.some((name) => evaluator.counts(name))
    })
  }

  readonly #lookup: Lookup = async (group, plural, namespace) => {
    const { client } = this.#parts
    const served = await client.resources()
    const kind = served.find((one) => one.group === group && one.plural === plural)
    return kind === undefined ? [] : (await client.list(kind, namespace ?? '')).items
  }

  async #measured(key: string): Promise<void> {
    const [namespace, name] = splitKey(key)
    const began = performance.now()
    await this.#count(namespace, name)
    if (this.#quotas.get(namespace, name)) this.#tookMs.set(key, performance.now() - began)
  }

  async #count(namespace: string, name: string): Promise<void> {
    const { client } = this.#parts
    const quota = await unlessMissing(client.get(resourceQuotas, namespace, name))
    if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return
    const hard = quota.spec?.hard ?? {}
    const kinds = await this.#countedKinds(Object.keys(hard))
    const counted = kinds.map((kind) => ({
      group: kind.group,
      plural: kind.plural,
      list: async () => (await client.list(kind, namespace)).items,
    }))
    const usage = await calculateUsage(quota, this.#evaluators, counted, this.#lookup)
    const before = amountsOf(quota.status?.used)
    const used = only(new Map([...before, ...usage]), Object.keys(hard))
    if (isCounted(quota) && sameAmounts(used, before)) return
    const status = { hard, used: listOf(used) }
    await unlessMissing(client.update(resourceQuotas, { ...quota, status }, 'status'))
  }

  /** Starts watches for the kinds that quotas count, and stops watches that no quota needs. */
  async #follow(): Promise<void> {
    const names = [...this.#quotas.values()].flatMap(({ spec }) => Object.keys(spec?.hard ?? {}))
    const wanted = new Map<string, ServedResource>()
    for (const kind of await this.#countedKinds(names)) {
      wanted.set(`${kind.group}/${kind.version}/${kind.plural}`, kind)
    }
    for (const [key, stop] of this.#followed) {
      if (wanted.has(key)) continue
      stop.abort()
      this.#followed.delete(key)
    }
    for (const [key, kind] of wanted) {
      if (this.#followed.has(key)) continue
      const stop = new AbortController()
      this.#followed.set(key, stop)
      this.#reflect(kind, stop.signal)
    }
  }

  #reflect(resource: ServedResource, stop: AbortSignal): void {
    const { client, signal, report } = this.#parts
    const evaluator = this.#evaluators.of(resource.group, resource.plural)
    void reflect({
      client,
      resource,
      signal: AbortSignal.any([signal, stop]),
      report,
      sink: {
        begin: () => {},
        listed: () => {},
        // Events may have been missed before this list, so every quota that counts the kind is
        // recounted.
        end: () => {
          for (const quota of this.#quotas.values()) this.#queue.addAfter(keyOf(quota), afterListMs)
        },
        changed: (object, isNew) => {
          if (!isNew && evaluator?.mayUseLess?.(object)) this.#countIn(object.metadata.namespace)
        },
        deleted: ({ metadata }) => this.#countIn(metadata.namespace),
      },
    })
  }

  #countIn(namespace: string | undefined): void {
    for (const quota of this.#quotas.values()) {
      if (quota.metadata.namespace !== namespace) continue
      const restMs = restFactor * (this.#tookMs.get(keyOf(quota)) ?? 0)
      this.#queue.addAfter(keyOf(quota), Math.max(afterReleaseMs, restMs))
    }
  }
}

/**
 * Whether the status has usage for all current limits. Only admission updates `used` between
 * recounts.
 */
const isCounted = ({ spec, status }: KubeObject): boolean =>
  status?.used !== undefined && sameAmounts(amountsOf(spec?.hard), amountsOf(status.hard))

const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.name}`
