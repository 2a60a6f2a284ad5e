/** Conditions in the status of workloads. Pure. */
import type { Loose } from '#api/object-meta.ts'

export interface WorkloadCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** A time as objects have it, without fractions of a second. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

export const conditionOf = (status: Loose | undefined, type: string): Loose | undefined =>
  (status?.conditions ?? []).find((one: Loose) => one.type === type)

export function withoutCondition(conditions: readonly Loose[], type: string): Loose[] {
  return conditions.filter((one) => one.type !== type)
}

/**
 * Adds or replaces a condition. It remains as it is if status and reason are the same. The time is
 * that of the last change of the status.
 */
export function withCondition(
  conditions: readonly Loose[],
  condition: WorkloadCondition,
  nowMs: number,
  /** Deployments also have the time of the last update. */
  hasUpdateTime = false,
): Loose[] {
  const now = timeText(nowMs)
  const before = conditions.find(({ type }) => type === condition.type)
  if (before?.status === condition.status && before.reason === condition.reason)
    return [...conditions]
  const keepsTime = hasUpdateTime && before?.status === condition.status
  const next: Loose = {
    ...condition,
    lastTransitionTime: keepsTime ? before?.lastTransitionTime : now,
    ...(hasUpdateTime && { lastUpdateTime: now }),
  }
  return [...withoutCondition(conditions, condition.type), next]
}
