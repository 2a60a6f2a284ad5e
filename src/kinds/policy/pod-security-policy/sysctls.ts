/**
 * Validates the sysctl patterns that a PodSecurityPolicy allows or forbids. No sysctl may be in
 * both lists.
 */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'

const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const lastSegment = '([a-z0-9][-_a-z0-9]*)?[a-z0-9*]'
const patternSource = `(${segment}\\.)*${lastSegment}`
const pattern = new RegExp(`^${patternSource}$`)
const lengthMax = 253

export function checkSysctls(names: string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let everything = false
  for (const [i, name] of names.entries()) {
    if (name === '') errors.push(invalid(path.index(i), name, 'empty sysctl not allowed'))
    else if (name.length > lengthMax || !pattern.test(name)) {
      const detail = `must have at most ${lengthMax} characters and match regex ${patternSource}`
      errors.push(invalid(path.index(i), name, detail))
    } else if (name.startsWith('*')) everything = true
  }
  if (everything && names.length > 1) {
    const detail = "if '*' is present, must not specify other sysctls"
    // The path `items` is kube-apiserver's; the object has no such field.
    errors.push(forbidden(path.child('items'), detail))
  }
  return errors
}

/** The prefix of a pattern such as `a.*`. Undefined for a name without a wildcard. */
const prefixOf = (name: string): string | undefined =>
  name.endsWith('*') ? name.slice(0, -1) : undefined

export function checkSysctlOverlaps(
  allowed: string[],
  allowedPath: FieldPath,
  forbiddenSysctls: string[],
  forbiddenPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, allowedName] of allowed.entries()) {
    for (const [j, forbiddenName] of forbiddenSysctls.entries()) {
      const overlap = overlapOf(allowedName, forbiddenName)
      const wrong = (at: FieldPath, value: string, with_: string) =>
        errors.push(invalid(at, value, `sysctl overlaps with ${with_}`))
      if (overlap === 'allowed') wrong(allowedPath.index(i), allowedName, forbiddenName)
      else if (overlap === 'refused') wrong(forbiddenPath.index(j), forbiddenName, allowedName)
    }
  }
  return errors
}

/** Which pattern lies within the other. */
function overlapOf(allowed: string, forbiddenSysctls: string): 'allowed' | 'refused' | undefined {
  const [a, r] = [prefixOf(allowed), prefixOf(forbiddenSysctls)]
  if (r !== undefined && (a ?? allowed).startsWith(r)) return 'allowed'
  if (a !== undefined && (r ?? forbiddenSysctls).startsWith(a)) return 'refused'
  return a === undefined && r === undefined && allowed === forbiddenSysctls ? 'allowed' : undefined
}
