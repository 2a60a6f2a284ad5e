/** Defaults of IngressClass. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const ingressClass: Defaulter = (value, { feature }) => {
  const parameters = value.spec?.parameters
  if (parameters && feature('IngressClassNamespacedParams')) parameters.scope ??= 'Cluster'
}

export const ingressClassDefaults: Defaulters = {
  'io.k8s.api.networking.v1.IngressClass': ingressClass,
  'io.k8s.api.networking.v1beta1.IngressClass': ingressClass,
}
