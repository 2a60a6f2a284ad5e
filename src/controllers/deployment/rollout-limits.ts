/** How many pods a deployment may have more or less than it specifies during a rollout. Pure. */
import type { KubeObject } from '#api/object-meta.ts'
import { scaledValue } from '#controllers/workloads/scaled-value.ts'

/** A limit with this value counts as none. */
const unlimited = 2 ** 31 - 1

export const replicasOf = ({ spec }: KubeObject): number => spec?.replicas ?? 1

export const isRolling = ({ spec }: KubeObject): boolean => spec?.strategy?.type === 'RollingUpdate'

const surgeOf = ({ spec }: KubeObject): number =>
  scaledValue(spec?.strategy?.rollingUpdate?.maxSurge ?? 0, spec?.replicas ?? 1)

export const maxSurgeOf = (deployment: KubeObject): number =>
  isRolling(deployment) ? surgeOf(deployment) : 0

/** At least 1 if there is no surge, because otherwise the rollout of 2 pods by 25% never begins. */
export function maxUnavailableOf(deployment: KubeObject): number {
  const replicas = replicasOf(deployment)
  if (!isRolling(deployment) || replicas === 0) return 0
  const { maxUnavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const unavailable = scaledValue(maxUnavailable, replicas, 'down')
  if (unavailable === 0 && surgeOf(deployment) === 0) return 1
  return Math.min(unavailable, replicas)
}

const limited = (value: unknown): number | undefined =>
  typeof value === 'number' && value !== unlimited ? value : undefined

/** Undefined if the progress of the deployment has no deadline. */
export const progressDeadlineSeconds = ({ spec }: KubeObject): number | undefined =>
  limited(spec?.progressDeadlineSeconds)

/** Undefined if all old replica sets stay. */
export const revisionHistoryLimit = ({ spec }: KubeObject): number | undefined =>
  limited(spec?.revisionHistoryLimit)
