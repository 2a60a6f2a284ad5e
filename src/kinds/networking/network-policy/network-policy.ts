/** The rules of NetworkPolicy. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { networkPolicyBehaviour } from './behaviour.ts'
import { networkPolicyColumns } from './columns.ts'
import { networkPolicyDefaults } from './defaults.ts'

export const networkPolicy: KindRules = {
  behaviour: networkPolicyBehaviour,
  columns: networkPolicyColumns,
  defaults: networkPolicyDefaults,
}
