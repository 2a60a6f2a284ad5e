/** Defaults of PodDisruptionBudget. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { stripBudgetLabel } from './conversions.ts'

/**
 * The label is `pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match`. Since 1.37 only writes
 * remove it (behaviour.ts). Older releases remove it in the defaults, and so also from stored
 * budgets that are read.
 */
export const storedLabelIsShown = change(
  'a stored budget shows the label that matched empty selectors in v1beta1',
  { since: 37 },
)

export const podDisruptionBudgetDefaults: Defaulters = {
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec': (value, { release }) => {
    if (!releaseOf(release).has(storedLabelIsShown)) stripBudgetLabel(value.selector)
  },
}
