/** Validation of node affinity and node selectors of pods and volumes. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { validateLabelName } from '#api/label-rules.ts'
import { labelValue, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Whether a value in the node selector is no label value. Stored objects may keep such values. */
export function hasInvalidNodeValues(selector: Loose | null | undefined): boolean {
  const terms: Loose[] = selector?.nodeSelectorTerms ?? []
  return terms.some(({ matchExpressions }) =>
    ((matchExpressions ?? []) as Loose[]).some(({ values }) =>
      ((values ?? []) as string[]).some((value) => labelValue(value).length > 0),
    ),
  )
}

/** `checkValues`: values of required terms must be label values. */
export function checkNodeAffinity(
  affinity: Loose,
  path: FieldPath,
  checkValues: boolean,
): FieldError[] {
  const errors: FieldError[] = []
  if (affinity[requiredTerms]) {
    errors.push(
      ...checkNodeSelector(affinity[requiredTerms], path.child(requiredTerms), checkValues),
    )
  }
  errors.push(...checkPreferredTerms(affinity[preferredTerms], path.child(preferredTerms)))
  return errors
}

export function checkNodeSelector(
  selector: Loose,
  path: FieldPath,
  checkValues = false,
): FieldError[] {
  const at = path.child('nodeSelectorTerms')
  const terms: Loose[] = selector.nodeSelectorTerms ?? []
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')]
  return terms.flatMap((term, i) => checkNodeSelectorTerm(term, at.index(i), checkValues))
}

function checkPreferredTerms(terms: Loose[] | null | undefined, path: FieldPath): FieldError[] {
  return (terms ?? []).flatMap((term, i) => [
    ...checkWeight(term.weight ?? 0, path.index(i).child('weight')),
    ...checkNodeSelectorTerm(term.preference ?? {}, path.index(i).child('preference'), false),
  ])
}

export const checkWeight = (weight: number, path: FieldPath): FieldError[] =>
  weight <= 0 || weight > 100 ? [invalid(path, weight, 'must be in the range 1-100')] : []

function checkNodeSelectorTerm(term: Loose, path: FieldPath, checkValues: boolean): FieldError[] {
  const expressions: Loose[] = term.matchExpressions ?? []
  const fields: Loose[] = term.matchFields ?? []
  return [
    ...expressions.flatMap((one, i) =>
      checkRequirement(one, path.child('matchExpressions').index(i), checkValues),
    ),
    ...fields.flatMap((one, i) => checkFieldRequirement(one, path.child('matchFields').index(i))),
  ]
}

function checkRequirement(requirement: Loose, path: FieldPath, checkValues: boolean): FieldError[] {
  const errors: FieldError[] = []
  const count = requirement.values?.length ?? 0
  const at = path.child('values')
  const operator: string = requirement.operator ?? ''
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'"
    if (count === 0) errors.push(required(at, detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    if (count > 0) errors.push(forbidden(at, detail))
  } else if (operator === 'Gt' || operator === 'Lt') {
    const detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
    if (count !== 1) errors.push(required(at, detail))
  } else {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  }
  errors.push(...validateLabelName(requirement.key ?? '', path.child('key')))
  if (!checkValues) return errors
  ;((requirement.values ?? []) as string[]).forEach((value, i) => {
    errors.push(...each(at.index(i), value, labelValue(value)))
  })
  return errors
}

/** A field requirement supports only metadata.name with a single value. */
function checkFieldRequirement(requirement: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const values: string[] = requirement.values ?? []
  const { operator = '', key = '' } = requirement
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  } else if (values.length !== 1) {
    const detail =
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    errors.push(required(path.child('values'), detail))
  }
  if (key !== 'metadata.name') {
    errors.push(invalid(path.child('key'), key, 'not a valid field selector key'))
    return errors
  }
  values.forEach((value, i) => {
    errors.push(...each(path.child('values').index(i), value, nameIsDnsSubdomain(value, false)))
  })
  return errors
}
