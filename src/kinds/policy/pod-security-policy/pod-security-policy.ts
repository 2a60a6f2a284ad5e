/** The rules of PodSecurityPolicy. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podSecurityPolicyBehaviour } from './behaviour.ts'
import { podSecurityPolicyColumns } from './columns.ts'
import { podSecurityPolicyDefaults } from './defaults.ts'

export const podSecurityPolicy: KindRules = {
  behaviour: podSecurityPolicyBehaviour,
  columns: podSecurityPolicyColumns,
  defaults: podSecurityPolicyDefaults,
}
