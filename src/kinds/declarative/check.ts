/** The input and output of declarative validation rules. This module contains no rule. */
import type { FieldError } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'

/** A value of any type: rules are chosen by the type that the tables know. */
export type CheckedValue = Loose[string]

/** A position in an object, with its new and old value. */
export interface Spot {
  readonly path: FieldPath
  readonly value: CheckedValue
  /** Undefined if the field did not exist or the request creates the object. */
  readonly old: CheckedValue
  readonly isUpdate: boolean
  readonly feature: (gate: string) => boolean
}

/**
 * An error of a rule. `isBeta`: it replaces the error that hand-written rules yield for the same
 * fault.
 */
export interface DeclaredError {
  readonly error: FieldError
  readonly isBeta: boolean
}

/** Returns plain errors. The calling step adds their stage. */
export type DeclaredCheck = (spot: Spot) => FieldError[]

/** A rule with its stage, or the rules of a nested field. */
export type DeclaredRule = (spot: Spot) => DeclaredError[]

/** Whether a value is Go's zero value. A required value must not be zero. */
export const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === 0n ||
  value === false

/** Nothing there: a nil pointer, an empty list, an empty map. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0)

/** Adds the origin, the name of the rule, to an error. */
export const from = (origin: string, error: FieldError): FieldError => ({ ...error, origin })
