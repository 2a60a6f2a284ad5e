/**
 * The errors of a value against its schema. kube-apiserver creates these errors in one library and
 * prints them with another; `fieldErrors` creates the errors of the response.
 */
import { type FieldError, invalid, notSupported, required, typeInvalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { listedProblemsLengthMax } from '#api/status-error.ts'

export interface SchemaError {
  /**
   * 'whole': an error that concerns no single field, such as those of anyOf. 'long' and 'many': a
   * string, list or map exceeds `most`.
   */
  readonly is: 'required' | 'enum' | 'type' | 'long' | 'many' | 'value' | 'whole'
  /** `spec.ports[0].name`; before 1.24 `spec.ports.name`. */
  readonly path: string
  /**
   * The text in the response, except for lists of values and required members; also identifies
   * equal errors.
   */
  readonly message: string
  readonly value?: Json | bigint
  /** Before 1.20, errors show this instead of the value: the violated bound, or null. */
  readonly bound?: number | null
  readonly allowed?: readonly Json[]
  readonly most?: number
}

/** Errors by message, so that duplicates are reported once. */
export type Errors = Map<string, SchemaError>

export function add(errors: Errors, error: SchemaError): void {
  if (!errors.has(error.message)) errors.set(error.message, error)
}

export function addAll(errors: Errors, more: Errors): void {
  for (const error of more.values()) add(errors, error)
}

const showsBrokenValues = change(
  'schema errors name <nil> for no path, and show the value that breaks a bound',
  { since: 20 },
)
const hasOwnCauses = change(
  'values of a wrong type, too long or too many have causes of their own',
  { since: 24 },
)
const limitsBytes = change('texts that are too long name the limit in bytes', { since: 32 })
const countsOne = change('limits of one are singular: at most 1 item', { since: 34 })

/** `base` is the path of the value. Without it the value is the root of an object. */
export function fieldErrors(errors: Errors, release: Release, base?: FieldPath): FieldError[] {
  const older = !release.has(showsBrokenValues)
  const root = base ?? (older ? FieldPath.root : FieldPath.none)
  const made: FieldError[] = []
  let length = 0
  for (const error of errors.values()) {
    if (length > listedProblemsLengthMax) break
    const one = fieldError(older ? boundShown(error) : error, root, release)
    length += one.message.length
    made.push(one)
  }
  return made
}

function boundShown(error: SchemaError): SchemaError {
  return error.bound === undefined ? error : { ...error, value: error.bound }
}

function fieldError(error: SchemaError, root: FieldPath, release: Release): FieldError {
  const name = error.path.replace(/^\./, '')
  if (error.is === 'whole') return invalid(root, '', error.message)
  const path = name === '' ? root : root.child(name)
  if (error.is === 'required') return required(path)
  if (error.is === 'enum') {
    const allowed = (error.allowed ?? []).map((one) =>
      typeof one === 'string' ? one : JSON.stringify(one),
    )
    return notSupported(path, error.value ?? null, allowed)
  }
  if (release.has(hasOwnCauses)) {
    if (error.is === 'type') return typeInvalid(path, error.value ?? '', error.message)
    if (error.is === 'long') return longError(path, error.most ?? 0, release)
    if (error.is === 'many') return manyError(path, error, release)
  }
  return invalid(path, error.value ?? '', error.message)
}

/** `2 items`, `1 item`; before 1.34 `1 items`. */
const counted = (count: number, word: string, release: Release): string =>
  `${count} ${word}${count === 1 && release.has(countsOne) ? '' : 's'}`

const longError = (path: FieldPath, most: number, release: Release): FieldError => ({
  type: 'FieldValueTooLong',
  field: path.toString(),
  message: release.has(limitsBytes)
    ? `Too long: may not be more than ${counted(most, 'byte', release)}`
    : `Too long: may not be longer than ${most}`,
})

const manyError = (path: FieldPath, error: SchemaError, release: Release): FieldError => ({
  type: 'FieldValueTooMany',
  field: path.toString(),
  message: `Too many: ${error.value}: must have at most ${counted(error.most ?? 0, 'item', release)}`,
})
