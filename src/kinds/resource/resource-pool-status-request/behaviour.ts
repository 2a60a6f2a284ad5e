/** ResourcePoolStatusRequest: a question about the devices of a driver, answered once. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { releaseOf } from '#api/releases/change.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { statusStrategy, statusSubresource } from '#kinds/all-kinds/status-strategy.ts'
import { dropUnlessUsed, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const path = FieldPath.of('status')
const statusType = 'io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestStatus'

function dropDisabled(next: KubeObject, old: KubeObject | undefined, { feature }: Context): void {
  const field = 'defaultPartitionTypeAttribute'
  const isOn = feature('DRAPartitionableDevicesType')
  dropUnlessUsed(next.spec, field, isOn, old?.spec?.[field] !== undefined)
}

function checkStatus(next: KubeObject, old: KubeObject, { release }: Context): FieldError[] {
  const { status } = next
  if (old.status !== undefined) {
    if (sameJson(status, old.status)) return []
    return [invalid(path, internalValue(statusType, status), immutableMessage)]
  }
  return checkConditions(status?.conditions ?? [], path.child('conditions'), releaseOf(release))
}

export const resourcePoolStatusRequestBehaviour: Behaviour = {
  ...statusStrategy,
  unconditionalUpdate: false,
  prepareForCreate(object, context) {
    delete object.status
    dropDisabled(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabled(next, old, context)
  },
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next, old, context) => [
        ...checkMetadataUpdate(next, old),
        ...checkStatus(next, old, context),
      ],
    },
  },
}
