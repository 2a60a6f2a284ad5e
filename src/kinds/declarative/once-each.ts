/**
 * Errors that rules find several times. Declarative validation drops the repetitions before it adds
 * its own errors.
 */
import type { FieldError } from '#api/field-error.ts'
import { change } from '#api/releases/change.ts'

export const errorsOccurOnce = change('the causes of an invalid object contain each error once', {
  since: 37,
})

/** Kinds of the servers inside kube-apiserver, which validate without declared rules. */
const groupsWithout: ReadonlySet<string> = new Set([
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
])

export const dropsRepetitions = (group: string): boolean => !groupsWithout.has(group)

export function onceEach(errors: FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter(({ field, message }) => {
    const text = `${field}: ${message}`
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  })
}
