/**
 * The usage in a quota's status is counted: anew when the quota's limits change, when a counted
 * object is deleted or may use less, and now and then. Never for a creation: admission has counted
 * that before the object can be seen, and counting it again would admit one more. Kinds are
 * followed only while some quota counts them, and no object of theirs is kept.
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

/** Everything is counted anew this often, whatever the watches reported. */
const recountMs = 300_000
/** What is released by many objects at once is counted once. */
const afterReleaseMs = 50
/**
 * Counting what is in a large namespace again and again may take this share of the time, at most.
 */
const restFactor = 4
/** What a list may have brought to light is in no hurry. */
const afterListMs = 1000

interface Times {
  /**
   * How often discovery is read: a quota may count a kind that comes later, or in another version.
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
  /** By quota: how long it took to count the last time. */
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
      if (!namespaced || !verbs.includes('list') || !verbs.includes('watch')) return false
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

  /**
   * Begins to follow the kinds that quotas count, and stops with those that none counts any more.
   */
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
        // Something may have gone unheard: every quota that counts it is counted anew.
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
 * Whether it says what is used of all that it limits. What is used is admission's to write besides.
 */
const isCounted = ({ spec, status }: KubeObject): boolean =>
  status?.used !== undefined && sameAmounts(amountsOf(spec?.hard), amountsOf(status.hard))

const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.name}`
