/** Defaults of PodDisruptionBudget. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { stripBudgetLabel } from './conversions.ts'

/** Before, it was dropped from budgets wherever they were read. */
export const labelsAreStrippedOnWrite = change(
  'a stored budget shows the label that matched empty selectors in v1beta1',
  { since: 37 },
)

export const podDisruptionBudgetDefaults: Defaulters = {
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec': (value, { release }) => {
    if (!releaseOf(release).has(labelsAreStrippedOnWrite)) stripBudgetLabel(value.selector)
  },
}
