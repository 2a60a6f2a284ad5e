/** Eviction: the progress of evicting a pod. Responders act one after the other. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { timestampMs } from '#api/timestamp.ts'
import { checkConditions, goConditions } from '#kinds/all-kinds/conditions.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { statusSubresource } from '#kinds/all-kinds/status-strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { requestStrategy } from '#kinds/lifecycle/request-strategy.ts'
import { checkResponders } from './responders.ts'
import { checkTargetResponders } from './target-responders.ts'

const conditionsPath = FieldPath.of('status', 'conditions')
const finalTypes = ['TargetEvicted', 'Failed']

/** Final conditions that the update reverts. */
function revertedTypes(next: Loose[], old: Loose[]): string[] {
  const isReverted = ({ type, status, reason = '' }: Loose): boolean => {
    if (!finalTypes.includes(type) || status !== 'True') return false
    const now = next.find((condition) => condition.type === type)
    return now === undefined || now.status === 'False' || (now.reason ?? '') !== reason
  }
  return old.filter(isReverted).map(({ type }) => type as string)
}

function checkStatus(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const [status, before]: [Loose, Loose] = [next.status ?? {}, old.status ?? {}]
  const conditions: Loose[] = status.conditions ?? []
  const reverted = revertedTypes(conditions, before.conditions ?? [])
  // A reverted condition counts as it was.
  const isTrue = (type: string): boolean =>
    reverted.includes(type) || conditions.find((one) => one.type === type)?.status === 'True'
  const nowMs = timestampMs(context.now)
  return [
    ...checkMetadataUpdate(next, old),
    ...checkConditions(conditions, conditionsPath, releaseOf(context.release)),
    ...reverted.map((type) => {
      const detail = `${type} condition status cannot be reverted`
      return invalid(conditionsPath, goConditions(conditions), detail)
    }),
    ...checkTargetResponders(status, before, { isFinal: finalTypes.some(isTrue), nowMs }),
    ...checkResponders(status, before, nowMs),
  ]
}

export const evictionBehaviour: Behaviour = {
  ...requestStrategy,
  subresources: { status: { ...statusSubresource, validateUpdate: checkStatus } },
}
