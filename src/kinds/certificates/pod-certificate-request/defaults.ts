/** Defaults of PodCertificateRequest. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const maxExpirationSeconds = 24 * 60 * 60

const spec: Defaulter = (value) => {
  value.maxExpirationSeconds ??= maxExpirationSeconds
}

export const podCertificateRequestDefaults: Defaulters = {
  'io.k8s.api.certificates.v1.PodCertificateRequestSpec': spec,
  'io.k8s.api.certificates.v1beta1.PodCertificateRequestSpec': spec,
  'io.k8s.api.certificates.v1alpha1.PodCertificateRequestSpec': spec,
}
