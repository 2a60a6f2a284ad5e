/** Defaults of NetworkPolicy. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const policyPort: Defaulter = (value) => {
  value.protocol ??= 'TCP'
}

/** A policy without types applies to ingress, and to egress if it has rules for it. */
const policy: Defaulter = (value) => {
  const spec: Loose = (value.spec ??= {})
  if (spec.policyTypes?.length) return
  spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress']
}

export const networkPolicyDefaults: Defaulters = {
  'io.k8s.api.networking.v1.NetworkPolicy': policy,
  'io.k8s.api.networking.v1.NetworkPolicyPort': policyPort,
  'io.k8s.api.extensions.v1beta1.NetworkPolicy': policy,
  'io.k8s.api.extensions.v1beta1.NetworkPolicyPort': policyPort,
}
