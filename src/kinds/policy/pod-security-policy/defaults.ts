/** Defaults of PodSecurityPolicy. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const securityPolicySpec: Defaulter = (value) => {
  value.allowPrivilegeEscalation ??= true
}

export const podSecurityPolicyDefaults: Defaulters = {
  'io.k8s.api.policy.v1beta1.PodSecurityPolicySpec': securityPolicySpec,
  'io.k8s.api.extensions.v1beta1.PodSecurityPolicySpec': securityPolicySpec,
}
