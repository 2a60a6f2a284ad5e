/**
 * Conditions of certificate requests: conditions that a status update must not change, and default
 * times.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'

const conditionsOf = (request: KubeObject): Loose[] => request.status?.conditions ?? []

/**
 * Restores the old Approved and Denied conditions. If their number has changed, none is restored;
 * v1beta1 then restores all conditions.
 */
export function keepConditions(next: KubeObject, old: KubeObject, takeBackAll: boolean): void {
  for (const type of ['Approved', 'Denied']) {
    if (replaceAll(next, old, type) || !takeBackAll) continue
    next.status ??= {}
    if (old.status?.conditions === undefined) delete next.status.conditions
    else next.status.conditions = structuredClone(old.status.conditions)
    return
  }
}

function replaceAll(next: KubeObject, old: KubeObject, type: string): boolean {
  const then = conditionsOf(old).filter((condition) => condition.type === type)
  const at = conditionsOf(next).flatMap((condition, i) => (condition.type === type ? [i] : []))
  if (then.length !== at.length) return false
  for (const [i, condition] of then.entries()) {
    next.status.conditions[at[i] as number] = structuredClone(condition)
  }
  return true
}

/**
 * Fills in absent times: lastUpdateTime is now; lastTransitionTime is the old one if the status did
 * not change.
 */
export function stampConditions(next: KubeObject, old: KubeObject, now: string): void {
  for (const condition of conditionsOf(next)) {
    condition.lastUpdateTime ||= now
    if (condition.lastTransitionTime) continue
    const same = conditionsOf(old).find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && lastTransitionTime,
    )
    condition.lastTransitionTime = same?.lastTransitionTime ?? now
  }
}
