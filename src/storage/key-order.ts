/**
 * Compares keys in the order of their UTF-8 bytes without encoding them. It differs from `<` on
 * strings only for surrogates.
 */
export function compareKeys(left: string, right: string): number {
  const shared = Math.min(left.length, right.length)
  for (let i = 0; i < shared; i++) {
    const a = left.charCodeAt(i)
    const b = right.charCodeAt(i)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

/** The index of the first key of a sorted array that is not before `key`. */
export function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(sorted[middle], key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Surrogates represent code points beyond U+FFFF, so they follow every other code unit. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
