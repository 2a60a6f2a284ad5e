/** The status of a deployment from its replica sets. Pure. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { withCondition } from '#controllers/workloads/conditions.ts'
import { maxUnavailableOf, replicasOf } from './rollout-limits.ts'
import { availableOf, type Rollout, setsOf, total } from './rollout.ts'

const runningOf = ({ status }: KubeObject): number => status?.replicas ?? 0
const readyOf = ({ status }: KubeObject): number => status?.readyReplicas ?? 0

export interface StatusOptions {
  /** Whether the status counts terminating pods. */
  readonly hasTerminating: boolean
  readonly nowMs: number
}

export function deploymentStatus(
  rollout: Rollout,
  { hasTerminating, nowMs }: StatusOptions,
): Loose {
  const { deployment, current } = rollout
  const { collisionCount, conditions = [] } = deployment.status ?? {}
  const sets = setsOf(rollout)
  const availableReplicas = total(sets, availableOf)
  const terminating = hasTerminating ? terminatingOf(sets) : undefined
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: total(sets, runningOf),
    updatedReplicas: current === undefined ? 0 : runningOf(current),
    readyReplicas: total(sets, readyOf),
    availableReplicas,
    unavailableReplicas: Math.max(0, total(sets, replicasOf) - availableReplicas),
  }
  const isAvailable = availableReplicas >= replicasOf(deployment) - maxUnavailableOf(deployment)
  const available = isAvailable
    ? ({
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      } as const)
    : ({
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      } as const)
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    conditions: withCondition(conditions, available, nowMs, true),
  }
}

/** Undefined if a replica set that has a status does not count its terminating pods. */
function terminatingOf(sets: readonly KubeObject[]): number | undefined {
  const counts = sets
    .filter(({ status }) => status?.observedGeneration || status?.terminatingReplicas !== undefined)
    .map(({ status }): number | undefined => status?.terminatingReplicas)
  return counts.includes(undefined)
    ? undefined
    : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

/** Whether all pods are of the current template and available. */
export function isComplete(deployment: KubeObject, status: Loose = {}): boolean {
  const wanted = replicasOf(deployment)
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status
  return (
    updatedReplicas === wanted &&
    replicas === wanted &&
    availableReplicas === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}
