/** PodGroup: pods that are scheduled together. Tags on its fields declare most of its rules. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed, keepStatus } from '#kinds/all-kinds/strategy.ts'
import { resetStatus, statusStrategy, statusSubresource } from '#kinds/all-kinds/status-strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { dropDisabledOfGroup } from '#kinds/scheduling/disabled-fields.ts'

const workloadPath = FieldPath.of('spec', 'workloadRef')
const conditionsPath = FieldPath.of('status', 'conditions')
const claimsPath = FieldPath.of('status', 'resourceClaimStatuses')

function check({ spec }: KubeObject): FieldError[] {
  if (spec?.parentCompositePodGroupName === undefined || spec.workloadRef !== undefined) return []
  return [required(workloadPath, 'must be set when parentCompositePodGroupName is set')]
}

function checkStatus(next: KubeObject, old: KubeObject, { release }: Context): FieldError[] {
  const { conditions = [], resourceClaimStatuses = [] }: Loose = next.status ?? {}
  const claims: Loose[] = next.spec?.resourceClaims ?? []
  return [
    ...checkMetadataUpdate(next, old),
    ...checkConditions(conditions, conditionsPath, releaseOf(release)),
    ...(resourceClaimStatuses as Loose[]).flatMap(({ name = '' }, i) => {
      if (claims.some((claim) => (claim.name ?? '') === name)) return []
      const detail = 'must match the name of an entry in `spec.resourceClaims`'
      return [invalid(claimsPath.index(i).child('name'), name, detail)]
    }),
  ]
}

export const podGroupBehaviour: Behaviour = {
  ...statusStrategy,
  unconditionalUpdate: false,
  prepareForCreate(object, context) {
    resetStatus(object)
    dropDisabledOfGroup(object.spec, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledOfGroup(next.spec, old.spec, context)
  },
  validateCreate: check,
  subresources: {
    status: {
      ...statusSubresource,
      prepareForUpdate(next, old, context) {
        statusSubresource.prepareForUpdate?.(next, old, context)
        const isOn = context.feature('DRAWorkloadResourceClaims')
        const isUsed = (old.spec?.resourceClaims ?? []).length > 0
        dropUnlessUsed(next.status, 'resourceClaimStatuses', isOn, isUsed)
      },
      validateUpdate: checkStatus,
    },
  },
}

/** Up to 1.36 a PUT needs no resourceVersion. */
export const olderPodGroupBehaviour: Behaviour = { ...podGroupBehaviour, unconditionalUpdate: true }
