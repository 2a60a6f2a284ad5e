/** The status of a disruption budget from its pods and from how many there should be. Pure. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { scaledValue } from '#controllers/workloads/scaled-value.ts'
import { isDeepStrictEqual } from 'node:util'

/** A pod whose eviction did not delete it within this time counts as available again. */
const evictionMsMax = 2 * 60_000
const budgetsHaveConditions = change('the status of a disruption budget has conditions', {
  since: 21,
})

export interface Count {
  readonly expected: number
  readonly desiredHealthy: number
}

export interface Judged {
  /** Undefined if the status is up to date. */
  readonly status: Loose | undefined
  /** When a pending eviction expires. Undefined if none is pending. */
  readonly againAtMs: number | undefined
}

/** Whether the budget needs the expected number of pods. An integer minAvailable does not. */
export const needsScale = ({ maxUnavailable, minAvailable }: Loose): boolean =>
  maxUnavailable != null || typeof minAvailable === 'string'

export function countOf(spec: Loose, pods: number, scale: number): Count {
  const { maxUnavailable, minAvailable } = spec
  if (maxUnavailable != null) {
    const desired = scale - scaledValue(maxUnavailable, scale)
    return { expected: scale, desiredHealthy: Math.max(0, desired) }
  }
  if (typeof minAvailable === 'string') {
    return { expected: scale, desiredHealthy: scaledValue(minAvailable, scale) }
  }
  if (minAvailable == null) return { expected: 0, desiredHealthy: 0 }
  return { expected: pods, desiredHealthy: minAvailable }
}

const isReady = ({ status }: KubeObject): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }: Loose) => type === 'Ready' && is === 'True',
  )

export function judge(
  budget: KubeObject,
  pods: readonly KubeObject[],
  count: Count,
  { nowMs, release }: { nowMs: number; release: number },
): Judged {
  const old: Loose = budget.status ?? {}
  const going = new Map<string, string>()
  let againAtMs: number | undefined
  let currentHealthy = 0
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined) continue
    const name = pod.metadata.name as string
    const since: string | undefined = old.disruptedPods?.[name]
    const ends = since === undefined ? 0 : Date.parse(since) + evictionMsMax
    if (since !== undefined && ends > nowMs) {
      going.set(name, since)
      againAtMs = Math.min(againAtMs ?? ends, ends)
    } else if (isReady(pod)) currentHealthy++
  }
  const { expected, desiredHealthy } = count
  const spare = currentHealthy - desiredHealthy
  const disruptionsAllowed = expected <= 0 ? 0 : Math.max(0, spare)
  const status: Loose = {
    ...old,
    observedGeneration: budget.metadata.generation ?? 0,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods: expected,
  }
  delete status.disruptedPods
  if (going.size > 0) status.disruptedPods = Object.fromEntries(going)
  const reason = disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods'
  if (releaseOf(release).has(budgetsHaveConditions)) setCondition(status, reason, '', nowMs)
  return { status: isDeepStrictEqual(status, old) ? undefined : status, againAtMs }
}

/** The status if the pods cannot be counted: nothing may be evicted, and why. */
export function failed(budget: KubeObject, message: string, nowMs: number, release: number): Loose {
  const status: Loose = { ...budget.status, disruptionsAllowed: 0 }
  if (releaseOf(release).has(budgetsHaveConditions))
    setCondition(status, 'SyncFailed', message, nowMs)
  return status
}

/** The time is that of the last change of its status. */
function setCondition(status: Loose, reason: string, message: string, nowMs: number): void {
  const conditions: Loose[] = status.conditions ?? []
  const type = 'DisruptionAllowed'
  const before = conditions.find((condition) => condition.type === type)
  const is = reason === 'SufficientPods' ? 'True' : 'False'
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`
  const condition = {
    type,
    status: is,
    observedGeneration: status.observedGeneration ?? 0,
    lastTransitionTime: before?.status === is ? before.lastTransitionTime : now,
    reason,
    message,
  }
  const others = conditions.filter((one) => one !== before)
  status.conditions = [...others, condition]
}
