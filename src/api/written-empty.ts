/**
 * Remembers that a client wrote a field as an empty list or map. In canonical form such a field is
 * absent. However, Kubernetes' messages and a few defaults distinguish an empty map
 * (`map[string]string{}`) from an absent one (`(nil)`). The mark is stored on the object itself, so
 * only copies made here have it, and encoders do not see it.
 */
import { copyData } from '#base/copy-data.ts'
import type { Loose } from './object-meta.ts'

const writtenEmpty = Symbol('fields written empty')

type Holder = { [writtenEmpty]?: Set<string> }

export function rememberEmpty(holder: object, field: string): void {
  const known = (holder as Holder)[writtenEmpty]
  if (known !== undefined) known.add(field)
  else Object.defineProperty(holder, writtenEmpty, { value: new Set([field]) })
}

/** Removes the mark after a default has set the field to an empty value. */
export function forgetEmpty(holder: object, field: string): void {
  ;(holder as Holder)[writtenEmpty]?.delete(field)
}

/** Whether the field is absent because the client wrote an empty list or map. */
export const wasWrittenEmpty = (holder: object | null | undefined, field: string): boolean =>
  (holder as Holder | null | undefined)?.[writtenEmpty]?.has(field) ?? false

/** Whether the value or any value inside it has such a field. */
export function hasWrittenEmpty(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(hasWrittenEmpty)
  return holdsWrittenEmpty(value) || Object.values(value).some(hasWrittenEmpty)
}

/** Whether any field of this object was written empty and has no default since. */
export function holdsWrittenEmpty(holder: object): boolean {
  const fields = (holder as Holder)[writtenEmpty]
  if (fields === undefined) return false
  for (const field of fields) if (((holder as Loose)[field] ?? null) === null) return true
  return false
}

/** A shallow copy that keeps the marks of the object. */
export function copyWrittenEmpty(from: object, to: object): void {
  for (const field of (from as Holder)[writtenEmpty] ?? []) rememberEmpty(to, field)
}

/** A deep copy that keeps all marks, for objects that are converted before the marks are read. */
export function copyWithEmptyMarks<T>(value: T): T {
  const copy = copyData(value)
  rememberLike(value, copy)
  return copy
}

function rememberLike(value: unknown, copy: unknown): void {
  if (value === null || typeof value !== 'object') return
  if (!Array.isArray(value)) copyWrittenEmpty(value, copy as object)
  for (const key in value) rememberLike((value as Loose)[key], (copy as Loose)[key])
}
