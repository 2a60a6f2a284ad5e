/**
 * Quantities by resource name, and the arithmetic of quotas. They are maps, because users choose
 * the names.
 */
import { byCodePoint } from '#api/go-syntax.ts'
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isZeroQuantity,
  parseQuantity,
  type Quantity,
  signOfQuantity,
  subtractQuantities,
  zeroQuantity,
} from '#api/quantity.ts'
import { setKey } from '#schema/user-key.ts'

export type ResourceAmounts = ReadonlyMap<string, Quantity>

export const amountsOf = (list: Record<string, string> | null | undefined): Map<string, Quantity> =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]))

export function listOf(amounts: ResourceAmounts): Record<string, string> {
  const list: Record<string, string> = {}
  for (const name of [...amounts.keys()].sort(byCodePoint)) {
    setKey(list, name, formatQuantity(amounts.get(name) as Quantity))
  }
  return list
}

export function add(a: ResourceAmounts, b: ResourceAmounts): Map<string, Quantity> {
  const sum = new Map(a)
  for (const [name, amount] of b) {
    const there = sum.get(name)
    sum.set(name, there === undefined ? amount : addQuantities(there, amount))
  }
  return sum
}

export function larger(a: ResourceAmounts, b: ResourceAmounts): Map<string, Quantity> {
  const most = new Map(a)
  for (const [name, amount] of b) {
    const there = most.get(name)
    if (there === undefined || compareQuantities(there, amount) <= 0) most.set(name, amount)
  }
  return most
}

/** The amounts by which `a` exceeds `b`; never negative. */
export function moreThan(a: ResourceAmounts, b: ResourceAmounts): Map<string, Quantity> {
  const rest = new Map<string, Quantity>()
  for (const [name, amount] of a) {
    const other = b.get(name)
    const left = other === undefined ? amount : subtractQuantities(amount, other)
    rest.set(name, signOfQuantity(left) > 0 ? left : zeroQuantity)
  }
  return rest
}

export function only(amounts: ResourceAmounts, names: Iterable<string>): Map<string, Quantity> {
  const wanted = new Set(names)
  return new Map([...amounts].filter(([name]) => wanted.has(name)))
}

export const withoutZeros = (amounts: ResourceAmounts): Map<string, Quantity> =>
  new Map([...amounts].filter(([, amount]) => !isZeroQuantity(amount)))

export function sameAmounts(a: ResourceAmounts, b: ResourceAmounts): boolean {
  if (a.size !== b.size) return false
  for (const [name, amount] of a) {
    const other = b.get(name)
    if (other === undefined || compareQuantities(amount, other) !== 0) return false
  }
  return true
}

/** The names whose amount exceeds the allowed one. */
export const exceeding = (amounts: ResourceAmounts, allowed: ResourceAmounts): string[] =>
  [...allowed]
    .filter(([name, most]) => {
      const amount = amounts.get(name)
      return amount !== undefined && compareQuantities(amount, most) > 0
    })
    .map(([name]) => name)

/** `cpu=1,memory=1Gi`, sorted. */
export const showAmounts = (amounts: ResourceAmounts): string =>
  showNames([...amounts].map(([name, amount]) => `${name}=${formatQuantity(amount)}`))

export const showNames = (names: readonly string[]): string =>
  [...names].sort(byCodePoint).join(',')
