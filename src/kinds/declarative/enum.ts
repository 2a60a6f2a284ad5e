/** A text is one of the values that a type declares. */
import { notSupported } from '#api/field-error.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import { assert } from '#base/assert.ts'
import type { DeclaredCheck } from './check.ts'

/** No published release excludes values by an option yet. */
export function enumCheck(values: readonly string[], exclusions: null): DeclaredCheck {
  assert(exclusions === null, 'rules: values of an enum are excluded by options')
  const supported = [...values].sort(byCodePoint)
  return ({ value, path }) =>
    typeof value !== 'string' || supported.includes(value)
      ? []
      : [notSupported(path, value, supported)]
}
