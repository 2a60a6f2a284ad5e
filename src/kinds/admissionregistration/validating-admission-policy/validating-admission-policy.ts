/** The rules of ValidatingAdmissionPolicy. */
import { policyColumns } from '#kinds/admissionregistration/policy-columns.ts'
import { policyDefaults } from '#kinds/admissionregistration/policy-defaults.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { validatingAdmissionPolicyBehaviour } from './behaviour.ts'

export const validatingAdmissionPolicy: KindRules = {
  behaviour: validatingAdmissionPolicyBehaviour,
  finalizerNames: 'any',
  columns: policyColumns('Validations', 'validations'),
  defaults: policyDefaults,
}
