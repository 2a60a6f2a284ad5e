/** Validation of maxSurge and maxUnavailable of a rolling update: an integer or a percentage. */
import { asGo, type GoText } from '#api/go-syntax.ts'
import { goIntOrString, type IntOrString, percentOf } from '#kinds/all-kinds/int-or-percent.ts'

/**
 * The integer, or the percentage as an integer. Another text is parsed as an integer, or is zero.
 */
export function amountOf(value: IntOrString): number {
  if (typeof value === 'number') return value
  const share = percentOf(value)
  if (share !== undefined) return share
  return /^[-+]?[0-9]+$/.test(value) ? Number(value) : 0
}

/** The value as messages show it. */
export const shownAmount = (value: IntOrString): GoText => asGo(goIntOrString(value))
