/**
 * When two items of a list are the same item: all of them is equal, or the values of some keys are.
 */
import { goJson } from '#api/go-syntax.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { CheckedValue } from './check.ts'

/** How list items are matched: as equal values, or by these key fields. */
export type Match = 'equal' | readonly string[]

/** A text that is equal for matching items. */
const matchKey = (item: CheckedValue, match: Match): string =>
  match === 'equal' ? goJson(item) : goJson(match.map((name) => ownValue(item, name) ?? ''))

/** Finds the first item that matches another. Long lists are searched once. */
export function finder(
  list: readonly CheckedValue[],
  match: Match,
): (item: CheckedValue) => CheckedValue {
  let byKey: Map<string, CheckedValue> | undefined
  return (item) => {
    if (byKey === undefined) {
      byKey = new Map()
      for (const one of list) {
        const key = matchKey(one, match)
        if (!byKey.has(key)) byKey.set(key, one)
      }
    }
    return byKey.get(matchKey(item, match))
  }
}

/** The positions of items that match an earlier one. */
export function repeatedAt(list: readonly CheckedValue[], match: Match): number[] {
  const seen = new Set<string>()
  return [...list.keys()].filter((i) => {
    const key = matchKey(list[i], match)
    const isRepeated = seen.has(key)
    seen.add(key)
    return isRepeated
  })
}
