/**
 * Rules for file system paths and modes in volumes: relative, never climbing, between 0 and 0777.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'

const modeMax = 0o777

export function checkNoBacksteps(target: string, path: FieldPath): FieldError[] {
  return target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : []
}

/** Validates a relative path that stays below its start. */
export function checkDescendingPath(target: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (target.startsWith('/')) errors.push(invalid(path, target, 'must be a relative path'))
  errors.push(...checkNoBacksteps(target, path))
  return errors
}

/** Validates a relative path. Names that begin with two dots are reserved for the kubelet. */
export function checkUnreservedPath(target: string, path: FieldPath): FieldError[] {
  const errors = checkDescendingPath(target, path)
  if (target.startsWith('..') && !target.startsWith('../')) {
    errors.push(invalid(path, target, "must not start with '..'"))
  }
  return errors
}

export function checkFileMode(mode: number | null | undefined, path: FieldPath): FieldError[] {
  if (mode === null || mode === undefined || (mode >= 0 && mode <= modeMax)) return []
  return [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
}
