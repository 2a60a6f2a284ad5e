/** Defaults of Ingress. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

/** The release that told paths apart by type. */
const pathTypeSince = 18

const betaPath: Defaulter = (value, { release }) => {
  if (release >= pathTypeSince) value.pathType ??= 'ImplementationSpecific'
}

export const ingressDefaults: Defaulters = {
  'io.k8s.api.networking.v1beta1.HTTPIngressPath': betaPath,
  'io.k8s.api.extensions.v1beta1.HTTPIngressPath': betaPath,
}
