/**
 * Validation of the annotations that a pod passes to its signer: keys have a domain, and the total
 * size is limited like that of annotations.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { qualifiedName } from '#api/names.ts'
import { each, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { tooLongBytes } from '#kinds/declarative/limits.ts'

const sizeBytesMax = 256 * 1024

export function checkUserAnnotations(
  map: Record<string, string> = {},
  path: FieldPath,
): FieldError[] {
  let size = 0
  const errors = sortedKeys(map).flatMap((key) => {
    size += Buffer.byteLength(key) + Buffer.byteLength(map[key] as string)
    return checkKey(key.toLowerCase(), path)
  })
  return size > sizeBytesMax ? [...errors, tooLongBytes(path, sizeBytesMax)] : errors
}

function checkKey(key: string, path: FieldPath): FieldError[] {
  if (key === '') return [required(path)]
  const problems = qualifiedName(key)
  if (problems.length > 0) return each(path, key, problems)
  if (key.includes('/')) return []
  return [invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')]
}
