/**
 * The condition `Progressing` of a deployment: whether its rollout proceeds, is complete, or has
 * passed its deadline. Pure.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  conditionOf,
  timeText,
  withCondition,
  withoutCondition,
  type WorkloadCondition,
} from '#controllers/workloads/conditions.ts'
import { isComplete } from './deployment-status.ts'
import { type Rollout, setsOf } from './rollout.ts'
import { progressDeadlineSeconds } from './rollout-limits.ts'

const type = 'Progressing'
const failureType = 'ReplicaFailure'
const completeReason = 'NewReplicaSetAvailable'
const timedOutReason = 'ProgressDeadlineExceeded'
const pausedReason = 'DeploymentPaused'

const progressing = (
  status: WorkloadCondition['status'],
  reason: string,
  message: string,
): WorkloadCondition => ({ type, status, reason, message })

export const createdSet = (name: string): WorkloadCondition =>
  progressing('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`)

export const foundSet = (name: string): WorkloadCondition =>
  progressing('True', 'FoundNewReplicaSet', `Found new replica set "${name}"`)

export const failedSet = (message: string): WorkloadCondition =>
  progressing('False', 'ReplicaSetCreateError', message)

/** The condition after a deployment was paused or resumed. A missed deadline stays visible. */
export function pauseCondition(deployment: KubeObject): WorkloadCondition | undefined {
  if (progressDeadlineSeconds(deployment) === undefined) return undefined
  const reason = conditionOf(deployment.status, type)?.reason
  const isPaused = deployment.spec?.paused === true
  if (reason === timedOutReason || isPaused === (reason === pausedReason)) return undefined
  return isPaused
    ? progressing('Unknown', pausedReason, 'Deployment is paused')
    : progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed')
}

export const hasProgress = ({ status }: KubeObject): boolean =>
  conditionOf(status, type) !== undefined

/** Conditions for the new status of a deployment that is not paused. */
export function progressConditions(rollout: Rollout, status: Loose, nowMs: number): Loose[] {
  const failure = failureOf(rollout)
  const conditions = withProgress(rollout, status, nowMs)
  if (failure === undefined) return withoutCondition(conditions, failureType)
  const { status: is, reason, message, lastTransitionTime } = failure
  const condition = { type: failureType, status: is, reason, message }
  return withCondition(conditions, condition, Date.parse(lastTransitionTime), true)
}

function withProgress({ deployment, current }: Rollout, status: Loose, nowMs: number): Loose[] {
  const conditions: Loose[] = status.conditions ?? []
  const deadline = progressDeadlineSeconds(deployment)
  if (deadline === undefined) return withoutCondition(conditions, type)
  const before = conditionOf(deployment.status, type)
  if (before?.reason === completeReason && areEqual(status.replicas, status.updatedReplicas))
    return conditions
  const name = current?.metadata.name
  const what =
    name === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${name}"`
  if (isComplete(deployment, status)) {
    const message = `${what} has successfully progressed.`
    return withCondition(conditions, progressing('True', completeReason, message), nowMs, true)
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const next = progressing('True', 'ReplicaSetUpdated', `${what} is progressing.`)
    // Every progress moves the deadline, also with the same reason.
    const now = timeText(nowMs)
    const since = before?.status === 'True' ? before.lastTransitionTime : now
    const others = withoutCondition(conditions, type)
    return [...others, { ...next, lastUpdateTime: now, lastTransitionTime: since }]
  }
  if (before === undefined || !isLate(before, deadline, nowMs)) return conditions
  const message = `${what} has timed out progressing.`
  return withCondition(conditions, progressing('False', timedOutReason, message), nowMs, true)
}

const areEqual = (a = 0, b = 0): boolean => a === b

function hasProgressed(old: Loose, now: Loose): boolean {
  const superseded = ({ replicas = 0, updatedReplicas = 0 }: Loose) => replicas - updatedReplicas
  const rises = (key: string) => (now[key] ?? 0) > (old[key] ?? 0)
  return (
    superseded(now) < superseded(old) ||
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'].some(rises)
  )
}

function isLate({ reason, lastUpdateTime }: Loose, deadline: number, nowMs: number): boolean {
  if (reason === completeReason) return false
  return reason === timedOutReason || Date.parse(lastUpdateTime) + deadline * 1000 < nowMs
}

/** The failure of the current replica set, or else of an old one. */
function failureOf(rollout: Rollout): Loose | undefined {
  const sets = setsOf(rollout).reverse()
  return sets.map(({ status }) => conditionOf(status, failureType)).find((one) => one !== undefined)
}

/** Milliseconds until the deadline must be checked. Undefined if there is none to check. */
export function deadlineInMs(
  deployment: KubeObject,
  status: Loose,
  nowMs: number,
): number | undefined {
  const deadline = progressDeadlineSeconds(deployment)
  const condition = conditionOf(status, type)
  if (deadline === undefined || condition === undefined) return undefined
  if (isComplete(deployment, status) || condition.reason === timedOutReason) return undefined
  // One second more, because times have no fractions.
  const left = Date.parse(condition.lastUpdateTime) + deadline * 1000 - nowMs
  return Math.max(0, left) + 1000
}
