/** The rules of ValidatingAdmissionPolicyBinding. */
import { bindingBehaviour } from '#kinds/admissionregistration/policy-binding.ts'
import { bindingColumns } from '#kinds/admissionregistration/policy-columns.ts'
import { policyDefaults } from '#kinds/admissionregistration/policy-defaults.ts'
import type { KindRules } from '#kinds/kind-rules.ts'

export const validatingAdmissionPolicyBinding: KindRules = {
  behaviour: bindingBehaviour(true),
  finalizerNames: 'any',
  columns: bindingColumns,
  defaults: policyDefaults,
}
