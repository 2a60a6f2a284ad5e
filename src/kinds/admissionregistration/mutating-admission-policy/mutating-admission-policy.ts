/** The rules of MutatingAdmissionPolicy. */
import { policyColumns } from '#kinds/admissionregistration/policy-columns.ts'
import { policyDefaults } from '#kinds/admissionregistration/policy-defaults.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { mutatingAdmissionPolicyBehaviour } from './behaviour.ts'

export const mutatingAdmissionPolicy: KindRules = {
  behaviour: mutatingAdmissionPolicyBehaviour,
  finalizerNames: 'any',
  columns: policyColumns('Mutations', 'mutations'),
  defaults: policyDefaults,
}
