/** The states of a pod that controllers of workloads count. Pure. */
import type { KubeObject, Loose } from '#api/object-meta.ts'

export const hasEnded = ({ status }: KubeObject): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** An active pod counts as a replica: it has not ended and is not being deleted. */
export const isActive = (pod: KubeObject): boolean =>
  !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined

/** A terminating pod is being deleted and its containers have not ended. */
export const isTerminatingPod = (pod: KubeObject): boolean =>
  !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined

export const readyCondition = ({ status }: KubeObject): Loose | undefined =>
  (status?.conditions ?? []).find(({ type }: Loose) => type === 'Ready')

export const isReady = (pod: KubeObject): boolean => readyCondition(pod)?.status === 'True'

/**
 * Milliseconds until a pod has been ready for `minReadySeconds`. 0 or less: it is available.
 * Undefined: it is not ready.
 */
export function availableInMs(
  pod: KubeObject,
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  const ready = readyCondition(pod)
  if (ready?.status !== 'True') return undefined
  if (minReadySeconds === 0) return 0
  if (ready.lastTransitionTime == null) return undefined
  return Date.parse(ready.lastTransitionTime) + minReadySeconds * 1000 - nowMs
}

export const isAvailable = (pod: KubeObject, minReadySeconds: number, nowMs: number): boolean => {
  const left = availableInMs(pod, minReadySeconds, nowMs)
  return left !== undefined && left <= 0
}
