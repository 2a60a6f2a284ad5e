/** Defaults of CertificateSigningRequest. */
import { wasWrittenEmpty } from '#api/written-empty.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { defaultSigner } from './kubelet-request.ts'

/** The release that gave requests a signer. */
const signerSince = 18

const betaRequestSpec: Defaulter = (spec, { release }) => {
  if (!wasWrittenEmpty(spec, 'usages')) spec.usages ??= ['digital signature', 'key encipherment']
  if (release >= signerSince) spec.signerName ??= defaultSigner(spec.request, spec.usages ?? [])
}

const betaRequestCondition: Defaulter = (value, { release }) => {
  if (release >= 19) value.status ||= 'True'
}

export const certificateSigningRequestDefaults: Defaulters = {
  'io.k8s.api.certificates.v1beta1.CertificateSigningRequestSpec': betaRequestSpec,
  'io.k8s.api.certificates.v1beta1.CertificateSigningRequestCondition': betaRequestCondition,
}
