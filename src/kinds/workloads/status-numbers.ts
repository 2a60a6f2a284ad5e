/** Numbers in the statuses of controllers: never negative, and parts never more than the whole. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'

export const checkCounts = (
  status: Loose,
  fields: readonly string[],
  path: FieldPath,
): FieldError[] =>
  fields.flatMap((field) => validateNonnegative(status[field] ?? 0, path.child(field)))

/**
 * Each of the fields must be at most status.replicas. availableReplicas must be at most
 * readyReplicas.
 */
export function checkParts(
  status: Loose,
  fields: readonly string[],
  path: FieldPath,
  readyName = 'readyReplicas',
): FieldError[] {
  const errors: FieldError[] = []
  const count = (field: string): number => status[field] ?? 0
  for (const field of fields) {
    if (count(field) <= count('replicas')) continue
    errors.push(invalid(path.child(field), count(field), 'cannot be greater than status.replicas'))
  }
  const available = count('availableReplicas')
  if (fields.includes('availableReplicas') && available > count('readyReplicas')) {
    const detail = `cannot be greater than ${readyName}`
    errors.push(invalid(path.child('availableReplicas'), available, detail))
  }
  return errors
}

/** Hash collisions are counted up only. */
export function checkCollisions(next: Loose, old: Loose, path: FieldPath): FieldError[] {
  const before: number | undefined = old.collisionCount ?? undefined
  const after: number | undefined = next.collisionCount ?? undefined
  if (before === undefined || (after !== undefined && after >= before)) return []
  return [invalid(path.child('collisionCount'), after ?? 0, 'cannot be decremented')]
}
