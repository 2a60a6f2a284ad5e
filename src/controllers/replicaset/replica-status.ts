/** The status of a replica set or replication controller from its pods. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { labelMatcher, selectorOfMap } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { conditionOf, withCondition, withoutCondition } from '#controllers/workloads/conditions.ts'
import { availableInMs, isAvailable, isReady } from '#controllers/workloads/pod-states.ts'

const failureType = 'ReplicaFailure'

export interface Counted {
  readonly active: readonly KubeObject[]
  /** Undefined for kinds and releases without this field. */
  readonly terminating: readonly KubeObject[] | undefined
  /** Why pods could not be created or deleted. */
  readonly failure: string | undefined
}

/** The new status. Undefined if the existing one is up to date. */
export function replicaStatus(
  owner: KubeObject,
  { active, terminating, failure }: Counted,
  nowMs: number,
): Loose | undefined {
  const { spec = {}, status: old = {} } = owner as Loose
  const seconds = spec.minReadySeconds ?? 0
  const hasAllLabels = labelMatcher(selectorOfMap(spec.template?.metadata?.labels))
  const count = (test: (pod: KubeObject) => boolean) => active.filter(test).length
  const status: Loose = {
    ...old,
    replicas: active.length,
    fullyLabeledReplicas: count(({ metadata }) => hasAllLabels(metadata.labels)),
    readyReplicas: count(isReady),
    availableReplicas: count((pod) => isAvailable(pod, seconds, nowMs)),
    observedGeneration: owner.metadata.generation ?? 0,
    conditions: conditionsAfter(old, active.length - (spec.replicas ?? 1), failure, nowMs),
  }
  if (terminating === undefined) delete status.terminatingReplicas
  else status.terminatingReplicas = terminating.length
  return isDeepStrictEqual(filled(status), filled(old)) ? undefined : status
}

/** Zeros and empty lists may be left out. */
const filled = (status: Loose): Loose =>
  Object.fromEntries(
    Object.entries(status).filter(
      ([key, value]) =>
        key === 'terminatingReplicas' ||
        key === 'replicas' ||
        (value !== 0 && !(Array.isArray(value) && value.length === 0)),
    ),
  )

function conditionsAfter(
  old: Loose,
  tooMany: number,
  failure: string | undefined,
  nowMs: number,
): Loose[] {
  const conditions: Loose[] = old.conditions ?? []
  if (failure === undefined) return withoutCondition(conditions, failureType)
  if (conditionOf(old, failureType) !== undefined) return conditions
  const reason = tooMany < 0 ? 'FailedCreate' : 'FailedDelete'
  const condition = { type: failureType, status: 'True', reason, message: failure } as const
  return withCondition(conditions, condition, nowMs)
}

/**
 * When the next ready pod becomes available, in milliseconds from now. Undefined if no pod waits
 * for it.
 */
export function nextAvailableInMs(
  pods: readonly KubeObject[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  const waits = pods
    .map((pod) => availableInMs(pod, minReadySeconds, nowMs))
    .filter((left) => left !== undefined && left > 0) as number[]
  return waits.length === 0 ? undefined : Math.min(...waits)
}
