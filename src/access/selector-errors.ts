/** Validation of the selectors in an access review. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { labelValue, qualifiedName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'

export function selectorErrors(attributes: Loose | null | undefined, at: FieldPath): FieldError[] {
  const { fieldSelector, labelSelector } = attributes ?? {}
  return [
    ...errorsOf(fieldSelector, at.child('fieldSelector'), fieldErrors),
    ...errorsOf(labelSelector, at.child('labelSelector'), labelErrors),
  ]
}

function errorsOf(
  selector: Loose | null | undefined,
  at: FieldPath,
  requirementErrors: (requirement: Loose, at: FieldPath) => FieldError[],
): FieldError[] {
  if (selector == null) return []
  const { rawSelector = '' } = selector
  const requirements: Loose[] = selector.requirements ?? []
  const errors: FieldError[] = []
  if (rawSelector !== '' && requirements.length > 0)
    errors.push(
      invalid(
        at.child('rawSelector'),
        rawSelector,
        'may not specified at the same time as requirements',
      ),
    )
  if (rawSelector === '' && requirements.length === 0)
    errors.push(
      required(
        at.child('requirements'),
        `when ${at} is specified, requirements or rawSelector is required`,
      ),
    )
  const list = at.child('requirements')
  return [...errors, ...requirements.flatMap((one, i) => requirementErrors(one, list.index(i)))]
}

/** Unknown operators are accepted, because the client may be newer. */
function valuesErrors({ operator, values }: Loose, at: FieldPath): FieldError[] {
  const count: number = values?.length ?? 0
  const path = at.child('values')
  if ((operator === 'In' || operator === 'NotIn') && count === 0)
    return [required(path, "must be specified when `operator` is 'In' or 'NotIn'")]
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0)
    return [forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
  return []
}

function fieldErrors(requirement: Loose, at: FieldPath): FieldError[] {
  const hasKey = (requirement.key ?? '') !== ''
  return [
    ...(hasKey ? [] : [required(at.child('key'), 'must be specified')]),
    ...valuesErrors(requirement, at),
  ]
}

function labelErrors(requirement: Loose, at: FieldPath): FieldError[] {
  const { key = '', values = [] } = requirement
  return [
    ...valuesErrors(requirement, at),
    ...qualifiedName(key).map((problem) => invalid(at.child('key'), key, problem)),
    ...(values as string[]).flatMap((value, i) =>
      labelValue(value).map((problem) => invalid(at.child('values').index(i), value, problem)),
    ),
  ]
}
