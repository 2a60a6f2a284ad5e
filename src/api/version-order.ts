/**
 * The order of version names: v2, v1, v2beta1, v1beta2, v1alpha1, then all other names
 * alphabetically.
 */

const pattern = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/
const stages: Readonly<Record<string, number>> = { alpha: 0, beta: 1, ga: 2 }

interface Rank {
  readonly stage: number
  readonly major: number
  readonly minor: number
}

function rankOf(version: string): Rank | undefined {
  const match = pattern.exec(version)
  if (match === null) return undefined
  return { stage: stages[match[2] ?? 'ga'], major: Number(match[1]), minor: Number(match[3] ?? 0) }
}

/** Compares version names. Negative if `a` is preferred. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)]
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor
}
