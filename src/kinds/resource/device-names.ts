/** Validation of the names of drivers, pools, devices and attributes. */
import { covered, type FieldError, invalid, required, tooLong } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1123Subdomain, identifier, longerThan, qualifiedName } from '#api/names.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkCsiDriverName } from '#kinds/pod-template/network-volumes.ts'

const poolNameLengthMax = 253
const idLengthMax = 32

/** Device drivers follow the same naming rule as CSI drivers. */
export const checkDriverName = checkCsiDriverName

export function checkPoolName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  return [
    ...(longerThan(name, poolNameLengthMax) ? [tooLong(path, name, poolNameLengthMax)] : []),
    ...name.split('/').flatMap((part) => each(path, part, dns1123Subdomain(part))),
  ]
}

/**
 * Validates `name` or `domain/name`. Names with several slashes are accepted, as in kube-apiserver.
 */
export function checkAttributeName(name: string, path: FieldPath): FieldError[] {
  const parts = name.split('/')
  if (parts.length > 2) return []
  const [first = '', second] = parts
  if (second === undefined) return checkIdentifier(first, path)
  return [
    ...(first === ''
      ? [invalid(path, '', 'the domain must not be empty')]
      : checkDriverName(first, path)),
    ...(second === ''
      ? [invalid(path, '', 'the name must not be empty')]
      : checkIdentifier(second, path)),
  ]
}

function checkIdentifier(id: string, path: FieldPath): FieldError[] {
  return [
    ...(longerThan(id, idLengthMax) ? [tooLong(path, id, idLengthMax)] : []),
    ...each(path, id, identifier(id)),
  ]
}

/** The errors are marked as covered, because declarative validation checks the same names. */
export function checkFullName(name: string, path: FieldPath): FieldError[] {
  const detail = 'a fully qualified name must be a domain and a name separated by a slash'
  const domainMissing = name.includes('/') ? [] : [invalid(path, name, detail)]
  return [...checkAttributeName(name, path), ...domainMissing].map(covered)
}

export const checkLabelName = (name: string, path: FieldPath): FieldError[] =>
  each(path, name, qualifiedName(name))
