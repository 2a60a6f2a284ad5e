/** Reads and sets the conditions of a definition. */
import type { KubeObject, Loose } from '#api/object-meta.ts'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export const conditionOf = ({ status }: KubeObject, type: string): Loose | undefined =>
  (status?.conditions ?? []).find((one: Loose) => one.type === type)

export const isTrue = (definition: KubeObject, type: string): boolean =>
  conditionOf(definition, type)?.status === 'True'

/** Changes the definition. The transition time is set only if the condition's status changes. */
export function setCondition(definition: KubeObject, condition: Condition, now: string): void {
  const { type, status, reason, message } = condition
  const old = conditionOf(definition, type)
  if (old === undefined) {
    const added = { type, status, lastTransitionTime: now, reason, message }
    definition.status.conditions = [...(definition.status.conditions ?? []), added]
    return
  }
  if (old.status !== status) old.lastTransitionTime = now
  Object.assign(old, { status, reason, message })
}

export function removeCondition(definition: KubeObject, type: string): void {
  definition.status.conditions = definition.status.conditions.filter(
    (one: Loose) => one.type !== type,
  )
}

export const sameCondition = (a: Condition | undefined, b: Loose | undefined): boolean =>
  a === undefined || b === undefined
    ? a === b
    : a.status === b.status && a.reason === b.reason && a.message === b.message
