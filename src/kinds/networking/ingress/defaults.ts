/** Defaults of Ingress. */
import { pathsHaveTypes } from '#kinds/stored-fields.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const betaPath: Defaulter = (value, { release }) => {
  if (releaseOf(release).has(pathsHaveTypes)) value.pathType ??= 'ImplementationSpecific'
}

export const ingressDefaults: Defaulters = {
  'io.k8s.api.networking.v1beta1.HTTPIngressPath': betaPath,
  'io.k8s.api.extensions.v1beta1.HTTPIngressPath': betaPath,
}
