/** Validation of the requested and accepted names of a definition. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1035Label } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'

export function checkNames(names: Loose, path: FieldPath): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '' } = names
  const errors: FieldError[] = []
  const check = (value: string, at: FieldPath) => {
    const problems = dns1035Label(value)
    if (problems.length > 0) errors.push(invalid(at, value, problems.join(',')))
  }
  if (plural !== '') check(plural, path.child('plural'))
  if (singular !== '') check(singular, path.child('singular'))
  for (const [name, value] of [
    ['kind', kind],
    ['listKind', listKind],
  ]) {
    const problems = value === '' ? [] : dns1035Label(value.toLowerCase())
    if (problems.length === 0) continue
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`
    errors.push(invalid(path.child(name), value, detail))
  }
  for (const [i, name] of (names.shortNames ?? []).entries())
    check(name, path.child('shortNames').index(i))
  if (kind !== '' && kind === listKind) {
    errors.push(invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same'))
  }
  for (const [i, name] of (names.categories ?? []).entries())
    check(name, path.child('categories').index(i))
  return errors
}

export const checkNamesGiven = (names: Loose, path: FieldPath): FieldError[] =>
  ['plural', 'singular', 'kind', 'listKind']
    .filter((name) => !names[name])
    .map((name) => required(path.child(name)))
