/**
 * What a schema has to say against a value. The original words these errors in one library and shows them through
 * another; `fieldErrors` makes what is answered.
 */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { toldLengthMax } from '#api/status-error.ts'

export interface SchemaError {
  /** 'whole': an error of no single field, as those of anyOf and its like. */
  readonly is: 'required' | 'enum' | 'value' | 'whole'
  /** `spec.ports.name`: items of lists are not told apart. */
  readonly path: string
  /** What is answered, but for lists of values and what is required; and what tells errors apart. */
  readonly message: string
  readonly value?: Json | bigint
  /** What is shown in place of the value before 1.20: the bound it breaks, or nothing (null). */
  readonly bound?: number | null
  readonly allowed?: readonly Json[]
}

/** Errors by their message: the same one twice is one. */
export type Errors = Map<string, SchemaError>

export function add(errors: Errors, error: SchemaError): void {
  if (!errors.has(error.message)) errors.set(error.message, error)
}

export function addAll(errors: Errors, more: Errors): void {
  for (const error of more.values()) add(errors, error)
}

/** The first release that says where there is no path, and shows the value that breaks a bound. */
const toldInFullSince = 20

/** `base`: where the value stands; without one, at the root of an object. */
export function fieldErrors(errors: Errors, release: number, base?: FieldPath): FieldError[] {
  const older = release < toldInFullSince
  const root = base ?? (older ? FieldPath.root : FieldPath.none)
  const made: FieldError[] = []
  let length = 0
  for (const error of errors.values()) {
    if (length > toldLengthMax) break
    const one = fieldError(older ? boundShown(error) : error, root)
    length += one.message.length
    made.push(one)
  }
  return made
}

function boundShown(error: SchemaError): SchemaError {
  return error.bound === undefined ? error : { ...error, value: error.bound }
}

function fieldError(error: SchemaError, root: FieldPath): FieldError {
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
  return invalid(path, error.value ?? '', error.message)
}
