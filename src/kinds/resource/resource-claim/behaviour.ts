/** ResourceClaim: the devices that pods request, and those that are allocated to them. */
import { covered, type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkDeviceClaim } from '#kinds/resource/device-claim.ts'
import { dropDisabledRequests } from '#kinds/resource/disabled-requests.ts'

const path = FieldPath.of('spec')

function checkStatus(next: KubeObject, old: KubeObject): FieldError[] {
  const at = FieldPath.of('status', 'reservedFor')
  const reserved: Loose[] = next.status?.reservedFor ?? []
  if (reserved.length === 0) return []
  if (!next.status?.allocation) {
    return [forbidden(at, 'may not be specified when `allocated` is not set')]
  }
  if (next.metadata.deletionTimestamp === undefined) return []
  const before: Loose[] = old.status?.reservedFor ?? []
  const isNew = reserved.some((one) => !before.some((other) => sameJson(one, other)))
  const detail =
    'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
  return isNew ? [forbidden(at, detail)] : []
}

export const resourceClaimBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = {}
    dropDisabledRequests(object.spec?.devices, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledRequests(next.spec?.devices, old.spec?.devices, context)
  },
  validateCreate: (object, context) =>
    checkDeviceClaim(object.spec?.devices ?? {}, path.child('devices'), context),
  validateUpdate: (next, old) => [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...checkMetadataUpdate(next, old),
    ...(sameJson(next.spec, old.spec) ? [] : [covered(invalid(path, next.spec, immutableMessage))]),
  ],
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...checkStatus(next, old)],
    },
  },
}
