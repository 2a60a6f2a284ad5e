/**
 * Maintains the status of PodDisruptionBudgets: healthy pods, required pods and allowed
 * disruptions. It evicts no pods. Without budgets it keeps no pods in memory.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { formatSelector, selectorOf } from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { isConflict, queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { disruptionBudgets, pods } from '#controllers/resources.ts'
import { countOf, failed, type Judged, judge, needsScale } from './budget-status.ts'
import { PodScale } from './pod-scale.ts'

const emptySelectsAll = change('an empty selector of a disruption budget selects all pods', {
  since: 21,
})

/** Pods often change together. */
const burstMs = 20
/**
 * Counting the pods of a large namespace again and again may take this share of the time, at most.
 */
const restFactor = 10
const workersMax = 2

/**
 * The pods cannot be counted now. The status of the budget gives the reason, and there may be no
 * event when they can be.
 */
class Uncounted extends Error {}

export const disruptionController: Controller = {
  name: 'disruption',
  account: 'disruption-controller',
  start(parts) {
    const { client, informers, release, clock } = parts
    const resource = disruptionBudgets(release)
    const scale = new PodScale(client)
    const byNamespace = new Map<string, Set<string>>()
    let tookMs = 0
    const report: ControllerParts['report'] = (message, error) => {
      if (!(error instanceof Uncounted)) parts.report(message, error)
    }
    const queue = queueFor(
      'disruption',
      { ...parts, report },
      async (key) => {
        const [namespace, name] = splitKey(key)
        const budget = await unlessMissing(client.get(resource, namespace, name))
        if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return
        const began = performance.now()
        const judged = await judgeOne(parts, scale, budget)
        tookMs = performance.now() - began
        if (judged.status !== undefined) {
          const next = { ...budget, status: judged.status }
          await unlessMissing(client.update(resource, next, 'status'))
        }
        if (judged.failure !== undefined) throw new Uncounted(judged.failure)
        if (judged.againAtMs !== undefined) return Math.max(1, judged.againAtMs - clock.now())
      },
      { workersMax },
    )
    const look = (namespace: string) => {
      for (const name of byNamespace.get(namespace) ?? [])
        queue.addAfter(`${namespace}/${name}`, Math.max(burstMs, restFactor * tookMs))
    }
    const lookAtPod = ({ metadata }: KubeObject) => {
      if (byNamespace.size > 0) look(metadata.namespace ?? '')
    }
    informers.pods().listen({
      seen: lookAtPod,
      gone: lookAtPod,
      listedAll: () => {
        for (const namespace of byNamespace.keys()) look(namespace)
      },
    })
    informers.disruptionBudgets(release).listen({
      changed: ({ namespace, name }) => {
        const names = byNamespace.get(namespace) ?? new Set()
        byNamespace.set(namespace, names.add(name))
        queue.add(`${namespace}/${name}`)
      },
      deleted: ({ namespace, name }) => {
        const names = byNamespace.get(namespace)
        if (names?.delete(name) && names.size === 0) byNamespace.delete(namespace)
      },
    })
  },
}

async function judgeOne(
  { client, release, clock }: ControllerParts,
  scale: PodScale,
  budget: KubeObject,
): Promise<Partial<Judged> & { failure?: string }> {
  const nowMs = clock.now()
  try {
    const picked = await podsOf(client, budget, release)
    const count = needsScale(budget.spec ?? {}) ? await scale.of(picked) : 0
    return judge(budget, picked, countOf(budget.spec ?? {}, picked.length, count), {
      nowMs,
      release,
    })
  } catch (error) {
    if (isConflict(error)) throw error
    const status = failed(budget, (error as Error).message, nowMs, release)
    const same = JSON.stringify(status) === JSON.stringify(budget.status)
    return { status: same ? undefined : status, failure: (error as Error).message }
  }
}

/**
 * The pods of a budget. An absent selector matches none. An empty one matches all in policy/v1 and
 * none in v1beta1.
 */
async function podsOf(
  client: ControllerParts['client'],
  { metadata, spec }: KubeObject,
  release: number,
): Promise<KubeObject[]> {
  const selector = selectorOf(spec?.selector)
  if (selector === 'nothing' || (selector.length === 0 && !releaseOf(release).has(emptySelectsAll)))
    return []
  const labelSelector = formatSelector(selector)
  return (await client.list(pods, metadata.namespace as string, { labelSelector })).items
}
