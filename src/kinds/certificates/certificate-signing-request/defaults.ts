/** Defaults of CertificateSigningRequest. */
import { requestsHaveSigners, conditionsHaveStatus } from '#kinds/stored-fields.ts'
import { releaseOf } from '#api/releases/change.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { defaultSigner } from './kubelet-request.ts'

const betaRequestSpec: Defaulter = (spec, { release }) => {
  if (!wasWrittenEmpty(spec, 'usages')) spec.usages ??= ['digital signature', 'key encipherment']
  if (releaseOf(release).has(requestsHaveSigners))
    spec.signerName ??= defaultSigner(spec.request, spec.usages ?? [])
}

const betaRequestCondition: Defaulter = (value, { release }) => {
  if (releaseOf(release).has(conditionsHaveStatus)) value.status ||= 'True'
}

export const certificateSigningRequestDefaults: Defaulters = {
  'io.k8s.api.certificates.v1beta1.CertificateSigningRequestSpec': betaRequestSpec,
  'io.k8s.api.certificates.v1beta1.CertificateSigningRequestCondition': betaRequestCondition,
}
