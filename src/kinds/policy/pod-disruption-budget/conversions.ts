/**
 * PodDisruptionBudget: an empty selector selects no pods in v1beta1 and all of them in v1, the hub.
 * Conversion replaces it with a label that no pod has.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

const label = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'

const onlyLabel = (operator: string): Loose => ({ matchExpressions: [{ key: label, operator }] })

const isEmpty = (selector: Loose): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 &&
  (selector.matchExpressions ?? []).length === 0

const isOnlyLabel = (selector: Loose, operator: string): boolean => {
  const expressions: Loose[] = selector.matchExpressions ?? []
  const [first] = expressions
  return (
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    expressions.length === 1 &&
    first?.key === label &&
    first.operator === operator &&
    !first.values?.length
  )
}

/** Removes the label, except where it is the whole selector and so stands for an empty one. */
export function stripBudgetLabel(selector: Loose | undefined): void {
  if (!selector?.matchExpressions || isOnlyLabel(selector, 'Exists')) return
  const kept = selector.matchExpressions.filter((one: Loose) => one.key !== label)
  if (kept.length > 0) selector.matchExpressions = kept
  else delete selector.matchExpressions
}

function toHub(object: KubeObject): KubeObject {
  const selector: Loose | undefined = object.spec?.selector
  if (!selector) return object
  if (isEmpty(selector)) object.spec.selector = onlyLabel('Exists')
  else if (isOnlyLabel(selector, 'DoesNotExist')) object.spec.selector = {}
  else {
    const kept = (selector.matchExpressions ?? []).filter((one: Loose) => one.key !== label)
    if (kept.length > 0) selector.matchExpressions = kept
    else delete selector.matchExpressions
  }
  return object
}

function fromHub(object: KubeObject): KubeObject {
  const selector: Loose | undefined = object.spec?.selector
  if (!selector) return object
  if (isOnlyLabel(selector, 'Exists')) object.spec.selector = {}
  else if (isEmpty(selector)) object.spec.selector = onlyLabel('DoesNotExist')
  return object
}

const conversion: Conversion = { toHub, fromHub }

export const podDisruptionBudgetConversions: Conversions = { 'policy/v1beta1': conversion }
