/** ResourceClaimTemplate: the template for the claims of new pods. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkTemplateMetadata } from '#kinds/pod-template/ephemeral-volume.ts'
import { checkRequests } from '#kinds/resource/admin-access.ts'
import { checkDeviceClaim } from '#kinds/resource/device-claim.ts'
import { dropDisabledRequests } from '#kinds/resource/disabled-requests.ts'

const path = FieldPath.of('spec')
const specType = 'io.k8s.api.resource.v1.ResourceClaimTemplateSpec'

function check({ spec = {} }: KubeObject, context: Context): FieldError[] {
  return [
    ...checkTemplateMetadata(spec.metadata ?? {}, path.child('metadata'), 'cannot be set'),
    ...checkDeviceClaim(spec.spec?.devices ?? {}, path.child('spec', 'devices'), context),
  ]
}

export const resourceClaimTemplateBehaviour: Behaviour = {
  prepareForCreate: (object, context) =>
    dropDisabledRequests(object.spec?.spec?.devices, undefined, context),
  prepareForUpdate: (next, old, context) =>
    dropDisabledRequests(next.spec?.spec?.devices, old.spec?.spec?.devices, context),
  namespaceRule: ({ spec }, _, context) => checkRequests(spec?.spec, context),
  validateCreate: check,
  // kube-apiserver checks a changed template whole, though its spec may not change.
  validateUpdate: (next, old, context) => [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...check(next, context),
    ...checkMetadataUpdate(next, old),
    ...(sameJson(next.spec, old.spec)
      ? []
      : [invalid(path, internalValue(specType, next.spec ?? {}), immutableMessage)]),
  ],
}
