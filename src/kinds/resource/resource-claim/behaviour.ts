/** ResourceClaim: the devices that pods request, and those that are allocated to them. */
import { covered, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import {
  dropUnlessUsed,
  keepObjectMetaForStatus,
  keepSpec,
  keepStatus,
} from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkRequests, checkResults } from '#kinds/resource/admin-access.ts'
import { checkDeviceClaim } from '#kinds/resource/device-claim.ts'
import { dropDisabledRequests } from '#kinds/resource/disabled-requests.ts'
import { claimRights } from './claim-rights.ts'
import { checkClaimStatus } from './claim-status.ts'

const path = FieldPath.of('spec')

const resultsOf = ({ status }: KubeObject): Loose[] => status?.allocation?.devices?.results ?? []

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
  namespaceRule: ({ spec }, _, context) => checkRequests(spec, context),
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
      prepareForUpdate(next, old, { feature }) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
        const field = 'skipNodeOperations'
        const isUsed = resultsOf(old).some((result) => result[field] !== undefined)
        for (const result of resultsOf(next))
          dropUnlessUsed(result, field, feature('DRAOptionalNodeOperations'), isUsed)
      },
      namespaceRule: checkResults,
      rights: claimRights,
      validateUpdate: (next, old, context) => [
        ...(context.refusedRights ?? []),
        ...checkMetadataUpdate(next, old),
        ...checkClaimStatus(next, old, context),
      ],
    },
  },
}
