/** Defaults of PodDisruptionBudget. */
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { stripBudgetLabel } from './conversions.ts'

export const podDisruptionBudgetDefaults: Defaulters = {
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec': (value) => stripBudgetLabel(value.selector),
}
