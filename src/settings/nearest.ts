/**
 * Suggests the known name with the smallest edit distance to a misspelled name. Undefined if no
 * name is near.
 */

function editsBetween(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(swap, (previous[j] as number) + 1, (current[j - 1] as number) + 1))
    }
    previous = current
  }
  return previous[b.length] as number
}

/** Longer names are not compared: flag names are short, and the cost is quadratic. */
const nameLengthMax = 100

export function nearest(stated: string, known: readonly string[]): string | undefined {
  if (stated.length > nameLengthMax) return undefined
  const limit = Math.max(2, Math.floor(stated.length / 4))
  let best: string | undefined
  let bestEdits = limit + 1
  for (const name of known) {
    const edits = editsBetween(stated, name)
    if (edits < bestEdits) [best, bestEdits] = [name, edits]
  }
  return best
}
