/** EvictionRequest: a requester wants a pod evicted, or withdraws that. */
import { FieldPath } from '#api/field-path.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { statusSubresource } from '#kinds/all-kinds/status-strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { requestStrategy } from '#kinds/lifecycle/request-strategy.ts'

const conditionsPath = FieldPath.of('status', 'conditions')

export const evictionRequestBehaviour: Behaviour = {
  ...requestStrategy,
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next, old, { release }) => [
        ...checkMetadataUpdate(next, old),
        ...checkConditions(next.status?.conditions ?? [], conditionsPath, releaseOf(release)),
      ],
    },
  },
}
