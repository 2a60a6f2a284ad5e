/**
 * Validation of labels and label selectors inside objects, with Kubernetes' messages.
 * label-selector.ts does the matching.
 */
import { type FieldError, forbidden, invalid, required } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { labelValue, qualifiedName } from './names.ts'
import type { Loose } from './object-meta.ts'
import { change, type Release } from './releases/change.ts'

export const validateLabelName = (name: string, path: FieldPath): FieldError[] =>
  qualifiedName(name).map((problem) => invalid(path, name, problem))

export function validateLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (!labels) return errors
  for (const key of Object.keys(labels)) {
    for (const problem of qualifiedName(key)) errors.push(invalid(path, key, problem))
    const value = labels[key] as string
    for (const problem of labelValue(value)) errors.push(invalid(path, value, problem))
  }
  return errors
}

export const selectorValuesAreChecked = change('values in label selectors must be label values', {
  since: 26,
})

/**
 * Whether values in label selectors are validated. An update skips this check if the old object has
 * an invalid value.
 */
export function checksSelectorValues(
  { has }: Pick<Release, 'has'>,
  ...old: readonly (Loose | null | undefined)[]
): boolean {
  if (!has(selectorValuesAreChecked)) return false
  return !old.some(
    (selector) =>
      validateLabelSelector(selector, FieldPath.root, true).length >
      validateLabelSelector(selector, FieldPath.root, false).length,
  )
}

export function validateLabelSelector(
  selector: Loose | null | undefined,
  path: FieldPath,
  checkValues = false,
): FieldError[] {
  if (!selector) return []
  const errors = validateLabels(selector.matchLabels, path.child('matchLabels'))
  const expressions: Loose[] = selector.matchExpressions ?? []
  expressions.forEach((expression, i) => {
    errors.push(
      ...validateLabelSelectorRequirement(expression, path.child('matchExpressions').index(i)),
    )
    if (!checkValues) return
    const at = path.child('matchExpressions').index(i).child('values')
    ;((expression.values ?? []) as string[]).forEach((value, k) => {
      for (const problem of labelValue(value)) errors.push(invalid(at.index(k), value, problem))
    })
  })
  return errors
}

function validateLabelSelectorRequirement(requirement: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const count = requirement.values?.length ?? 0
  const operator = requirement.operator ?? ''
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'"
    if (count === 0) errors.push(required(path.child('values'), detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    if (count > 0) errors.push(forbidden(path.child('values'), detail))
  } else {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  }
  errors.push(...validateLabelName(requirement.key ?? '', path.child('key')))
  return errors
}
