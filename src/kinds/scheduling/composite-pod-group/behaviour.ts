/** CompositePodGroup: a group of pod groups. Tags on its fields declare its rules. */
import { FieldPath } from '#api/field-path.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { resetStatus, statusStrategy, statusSubresource } from '#kinds/all-kinds/status-strategy.ts'
import { keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { dropDisabledOfComposite } from '#kinds/scheduling/disabled-fields.ts'

const conditionsPath = FieldPath.of('status', 'conditions')

export const compositePodGroupBehaviour: Behaviour = {
  ...statusStrategy,
  unconditionalUpdate: false,
  prepareForCreate(object, context) {
    resetStatus(object)
    dropDisabledOfComposite(object.spec, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledOfComposite(next.spec, old.spec, context)
  },
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
