/** Numbers that may be percentages, as rolling updates use them for how many pods may come and go at once. */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, type GoText, goQuote } from '#api/go-syntax.ts'
import { percent } from '#api/names.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { each } from '#kinds/behaviour/checks.ts'

export type IntOrPercent = number | string

/** An IntOrString as messages show it. */
export const goIntOrString = (value: IntOrPercent): GoText =>
  typeof value === 'string'
    ? asGo(`intstr.IntOrString{Type:1, IntVal:0, StrVal:${goQuote(value)}}`)
    : asGo(`intstr.IntOrString{Type:0, IntVal:${value}, StrVal:""}`)

/** Not negative, or a percentage. */
export const checkIntOrPercent = (value: IntOrPercent, path: FieldPath): FieldError[] =>
  typeof value === 'string'
    ? each(path, goIntOrString(value), percent(value))
    : validateNonnegative(value, path)

const percentOf = (value: IntOrPercent): number | undefined =>
  typeof value === 'string' && percent(value).length === 0 ? Number(value.slice(0, -1)) : undefined

/** The number, or the percentage as a number; a text that is no percentage counts as the number it is, or zero. */
export const amountOf = (value: IntOrPercent): number => {
  if (typeof value === 'number') return value
  const share = percentOf(value)
  if (share !== undefined) return share
  return /^[-+]?[0-9]+$/.test(value) ? Number(value) : 0
}

export const checkAtMostWhole = (value: IntOrPercent, path: FieldPath): FieldError[] =>
  (percentOf(value) ?? 0) <= 100
    ? []
    : [invalid(path, goIntOrString(value), 'must not be greater than 100%')]
