/**
 * A validation error of one field, with Kubernetes' messages. Validators return lists of these
 * errors; `invalid` in status-error.ts converts a list into the response. Functions here throw only
 * the limit that `problemsOf` catches.
 */
import type { FieldPath } from './field-path.ts'
import type { ReleaseChange } from './releases/change.ts'
import { goJson, goQuote, goUntyped } from './go-syntax.ts'

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

export interface FieldError {
  type: FieldErrorType
  field: string
  /** The complete message without the field's path. */
  message: string
  /** The parts of a message with a value that releases since 1.34 print as JSON. */
  shown?: { head: string; value: unknown; detail: string }
  /** The maximum length, if the error is about a length. */
  limit?: number
  /** Releases with this change omit the error, because another error covers the fault. */
  before?: ReleaseChange
  /**
   * Declarative validation reports the same problem, in releases that have it. Then this error is
   * dropped.
   */
  isCovered?: true
  /** The error that releases before a change report instead, if more than its wording differs. */
  older?: { before: ReleaseChange; error: FieldError }
  /**
   * The declarative rule that finds the same problem, if the messages differ: 'maxLength',
   * 'format=k8s-long-name'.
   */
  origin?: string
}

/**
 * Limit of errors for one object. It is more than users read, and fewer than the maximum number of
 * arguments of a call. A list may have a million invalid items, and duplicates can cause an error
 * for each pair.
 */
export const problemsMax = 50_000

/** The errors created since problemsOf started, to enforce the limit. */
let counted: FieldError[] | undefined

/** Thrown when the limit of errors is reached. */
class Enough extends Error {}

/**
 * Runs a check and returns its errors. If the check reaches the limit, it is aborted and the errors
 * so far are returned.
 */
export function problemsOf(check: () => FieldError[]): FieldError[] {
  const made: FieldError[] = []
  counted = made
  try {
    return check()
  } catch (error) {
    if (error instanceof Enough) return made
    throw error
  } finally {
    counted = undefined
  }
}

/** A value in Go's syntax: strings quoted, numbers and booleans unquoted. */
export function showAsGo(value: unknown): string {
  if (value === null || value === undefined) return '"null"'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'bigint') return String(value)
  return goUntyped(value)
}

/** Marks an error that declarative validation also reports; see `isCovered`. */
export const covered = (error: FieldError): FieldError => ({ ...error, isCovered: true })

/** The message with its value as JSON. */
export const messageWithJson = ({ message, shown }: FieldError): string =>
  shown === undefined ? message : withDetail(`${shown.head}: ${goJson(shown.value)}`, shown.detail)

function error(type: FieldErrorType, path: FieldPath | string, message: string): FieldError {
  return counting({ type, field: path.toString(), message })
}

/** An error without a value: `head: detail`. */
export const unshown: unique symbol = Symbol('unshown')

/** An error that shows a value: `head: value: detail`. */
function errorWithValue(
  type: FieldErrorType,
  path: FieldPath | string,
  head: string,
  value: unknown,
  detail = '',
): FieldError {
  if (value === unshown) return error(type, path, withDetail(head, detail))
  const message = withDetail(`${head}: ${showAsGo(value)}`, detail)
  const made: FieldError = { type, field: path.toString(), message }
  if (typeof value === 'object' || value === undefined) made.shown = { head, value, detail }
  return counting(made)
}

function counting(made: FieldError): FieldError {
  if (counted !== undefined && counted.push(made) >= problemsMax) throw new Enough()
  return made
}
const withDetail = (head: string, detail: string) => (detail === '' ? head : `${head}: ${detail}`)

export const required = (path: FieldPath | string, detail = '') =>
  error('FieldValueRequired', path, withDetail('Required value', detail))

export const invalid = (path: FieldPath | string, value: unknown, detail: string) =>
  errorWithValue('FieldValueInvalid', path, 'Invalid value', value, detail)

/** A value of the wrong JSON type. */
export const typeInvalid = (path: FieldPath | string, value: unknown, detail: string) =>
  errorWithValue('FieldValueTypeInvalid', path, 'Invalid value', value, detail)

/** An invalid value that the message does not show. */
export const invalidUnshown = (path: FieldPath | string, detail: string) =>
  error('FieldValueInvalid', path, `Invalid value: ${detail}`)

export const notSupported = (
  path: FieldPath | string,
  value: unknown,
  supported: readonly string[],
) =>
  errorWithValue(
    'FieldValueNotSupported',
    path,
    'Unsupported value',
    value,
    supported.length > 0 ? `supported values: ${supported.map(goQuote).join(', ')}` : '',
  )

export const duplicate = (path: FieldPath | string, value: unknown) =>
  errorWithValue('FieldValueDuplicate', path, 'Duplicate value', value)

export const forbidden = (path: FieldPath | string, detail: string) =>
  error('FieldValueForbidden', path, withDetail('Forbidden', detail))

export const fieldNotFound = (path: FieldPath | string, value: unknown) =>
  errorWithValue('FieldValueNotFound', path, 'Not found', value)

export function tooLong(path: FieldPath | string, _value: unknown, limit: number): FieldError {
  const made = error(
    'FieldValueTooLong',
    path,
    `Too long: may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`,
  )
  made.limit = limit
  return made
}

export const tooMany = (path: FieldPath | string, actual: number, max: number) =>
  error('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} items`)

export const internalFieldError = (path: FieldPath | string, detail: string) =>
  error('InternalError', path, withDetail('Internal error', detail))
