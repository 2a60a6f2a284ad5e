/**
 * Huge pages: the resource name contains the page size (`hugepages-2Mi`), and quantities are
 * multiples of it.
 */
import type { Loose } from '#api/object-meta.ts'
import { parseQuantity, QuantityError, quantityMilliValue, quantityValue } from '#api/quantity.ts'
import { containersOf } from './containers-of.ts'

const prefix = 'hugepages-'

export const isHugePages = (name: string): boolean => name.startsWith(prefix)

/** Whether a quantity is a multiple of the page size. */
export function isWholePages(name: string, amount: string): boolean {
  try {
    const size = parseQuantity(name.slice(prefix.length))
    const milli = quantityMilliValue(size)
    if (milli <= 0n || milli % 1000n !== 0n) return false
    return quantityValue(amount) % quantityValue(size) === 0n
  } catch (error) {
    if (error instanceof QuantityError) return false
    throw error
  }
}

/** The page sizes that the containers of a pod request, each once. */
export function pageSizesOf({ containers }: Loose): string[] {
  const names = ((containers ?? []) as Loose[]).flatMap(({ resources = {} }) => [
    ...Object.keys(resources.limits ?? {}),
    ...Object.keys(resources.requests ?? {}),
  ])
  return [...new Set(names.filter(isHugePages))].sort()
}

/** Whether any container requests a fraction of a huge page. */
export function hasIndivisibleHugePages(spec: Loose): boolean {
  const broken = (list: Record<string, string> | undefined) =>
    Object.entries(list ?? {}).some(
      ([name, amount]) => isHugePages(name) && !isWholePages(name, amount),
    )
  return (
    containersOf(spec).some(
      (container) => broken(container.resources?.limits) || broken(container.resources?.requests),
    ) || broken(spec.overhead)
  )
}
