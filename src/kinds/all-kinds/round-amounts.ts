/** Quantities that defaults round up to thousandths, as kube-apiserver does. */
import type { Loose } from '#api/object-meta.ts'
import { roundUpToMilli } from '#api/quantity.ts'
import { rememberText, textWritten } from '#api/written-text.ts'

/** Rounds quantities up to whole thousandths. */
export function roundAmounts(amounts: Record<string, string> | null | undefined): void {
  if (!amounts) return
  for (const name of Object.keys(amounts)) {
    const amount = amounts[name] as string
    const rounded = roundUpToMilli(amount)
    if (rounded === amount) continue
    if (textWritten(amounts, name) === undefined) rememberText(amounts, name, amount)
    // Safe with user-defined names, because each is already an own key of the object.
    amounts[name] = rounded
  }
}

export const amounts =
  (...fields: string[]) =>
  (value: Loose): void => {
    for (const field of fields) roundAmounts(value[field])
  }
