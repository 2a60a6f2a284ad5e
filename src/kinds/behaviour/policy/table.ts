/** The behaviours of policy, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { podDisruptionBudget } from './pod-disruption-budget.ts'
import { podSecurityPolicy } from './pod-security-policy.ts'

export const policyBehaviours: Readonly<Record<string, Behaviour>> = {
  'policy/poddisruptionbudgets': podDisruptionBudget,
  'policy/podsecuritypolicies': podSecurityPolicy,
}
