/** The status of a ValidatingAdmissionPolicy: the results of type checking, and conditions. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { jsonPathProblem } from '#kinds/custom/json-path.ts'

const path = FieldPath.of('status')

export function checkStatus({ status }: KubeObject, release: Release): FieldError[] {
  const warnings: Loose[] = status?.typeChecking?.expressionWarnings ?? []
  const at = path.child('typeChecking').child('expressionWarnings')
  return [
    ...warnings.flatMap((warning, i) => checkWarning(warning, at.index(i))),
    ...checkConditions(status?.conditions ?? [], path.child('conditions'), release),
  ]
}

function checkWarning({ fieldRef = '', warning = '' }: Loose, at: FieldPath): FieldError[] {
  const errors = warning === '' ? [required(at.child('warning'))] : []
  const reference = fieldRef.trim()
  if (reference === '') return [...errors, required(at.child('fieldRef'))]
  const problem = jsonPathProblem(reference)
  if (problem === undefined) return errors
  return [...errors, invalid(at.child('fieldRef'), reference, `invalid JSONPath: ${problem}`)]
}
