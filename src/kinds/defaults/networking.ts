/** Defaults of ingresses and network policies. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

/** The release that told paths apart by type. */
const pathTypeSince = 18

const betaPath: Defaulter = (value, { release }) => {
  if (release >= pathTypeSince) value.pathType ??= 'ImplementationSpecific'
}

const policyPort: Defaulter = (value) => {
  value.protocol ??= 'TCP'
}

/** A policy without types is about ingress, and about egress where it has rules for it. */
const policy: Defaulter = (value) => {
  const spec: Loose = (value.spec ??= {})
  if (spec.policyTypes?.length) return
  spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress']
}

const ingressClass: Defaulter = (value, { feature }) => {
  const parameters = value.spec?.parameters
  if (parameters && feature('IngressClassNamespacedParams')) parameters.scope ??= 'Cluster'
}

export const networkingDefaults: Defaulters = {
  'io.k8s.api.networking.v1.NetworkPolicy': policy,
  'io.k8s.api.networking.v1.NetworkPolicyPort': policyPort,
  'io.k8s.api.networking.v1.IngressClass': ingressClass,
  'io.k8s.api.networking.v1beta1.IngressClass': ingressClass,
  'io.k8s.api.networking.v1beta1.HTTPIngressPath': betaPath,
  'io.k8s.api.extensions.v1beta1.HTTPIngressPath': betaPath,
  'io.k8s.api.extensions.v1beta1.NetworkPolicy': policy,
  'io.k8s.api.extensions.v1beta1.NetworkPolicyPort': policyPort,
}
