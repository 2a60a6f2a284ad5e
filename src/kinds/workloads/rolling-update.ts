/** How many pods may come and go at once in a rolling update: a number, or a percentage. */
import { asGo, type GoText } from '#api/go-syntax.ts'
import { goIntOrString, type IntOrString, percentOf } from '#kinds/all-kinds/int-or-percent.ts'

/**
 * The number, or the percentage as a number; a text that is no percentage counts as the number it
 * is, or zero.
 */
export function amountOf(value: IntOrString): number {
  if (typeof value === 'number') return value
  const share = percentOf(value)
  if (share !== undefined) return share
  return /^[-+]?[0-9]+$/.test(value) ? Number(value) : 0
}

/** The value as messages show it. */
export const shownAmount = (value: IntOrString): GoText => asGo(goIntOrString(value))
