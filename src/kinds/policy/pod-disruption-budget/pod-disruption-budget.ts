/** The rules of PodDisruptionBudget. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podDisruptionBudgetBehaviour } from './behaviour.ts'
import { podDisruptionBudgetColumns } from './columns.ts'
import { podDisruptionBudgetConversions } from './conversions.ts'
import { podDisruptionBudgetDefaults } from './defaults.ts'

export const podDisruptionBudget: KindRules = {
  behaviour: podDisruptionBudgetBehaviour,
  finalizerNames: 'any',
  columns: podDisruptionBudgetColumns,
  defaults: podDisruptionBudgetDefaults,
  conversions: podDisruptionBudgetConversions,
}
