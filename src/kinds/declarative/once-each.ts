/**
 * Removes repeated errors from the validation errors of an invalid object. Since 1.37
 * kube-apiserver does this after the handwritten rules and before declarative validation.
 */
import type { FieldError } from '#api/field-error.ts'
import { change } from '#api/releases/change.ts'

export const errorsOccurOnce = change('the causes of an invalid object contain each error once', {
  since: 37,
})

/**
 * The API groups of apiextensions-apiserver and kube-aggregator. They have no declarative
 * validation, so kube-apiserver keeps their repetitions.
 */
const groupsWithoutDeclaredRules: ReadonlySet<string> = new Set([
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
])

export const dropsRepetitions = (group: string): boolean => !groupsWithoutDeclaredRules.has(group)

export function withoutRepetitions(errors: FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter(({ field, message }) => {
    const text = `${field}: ${message}`
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  })
}
