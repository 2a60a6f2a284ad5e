/** Values that are a number or a percentage: `3`, `25%`. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goJson, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import { percent } from '#api/names.ts'
import { checkNotNegative } from './checks.ts'

export type IntOrString = number | string

/** As Go's `%#v` prints it. */
export const goIntOrString = (value: unknown): GoText =>
  asGo(
    goStruct('intstr.IntOrString', [
      ['Type', typeof value === 'string' ? '1' : '0'],
      ['IntVal', typeof value === 'number' ? String(value) : '0'],
      ['StrVal', goQuote(typeof value === 'string' ? value : '')],
    ]),
    goJson(value ?? 0),
  )

export function checkIntOrPercent(value: IntOrString, path: FieldPath): FieldError[] {
  if (typeof value === 'number') return checkNotNegative(value, path)
  return percent(value).map((problem) => invalid(path, asGo(goIntOrString(value)), problem))
}

/** The number in a percentage; undefined for other values. */
export const percentOf = (value: IntOrString): number | undefined =>
  typeof value === 'string' && percent(value).length === 0 ? Number.parseInt(value, 10) : undefined

export function checkAtMost100Percent(value: IntOrString, path: FieldPath): FieldError[] {
  if ((percentOf(value) ?? 0) <= 100) return []
  return [invalid(path, asGo(goIntOrString(value)), 'must not be greater than 100%')]
}
