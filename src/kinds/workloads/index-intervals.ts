/**
 * The indexes of an indexed job as intervals: `1,3-5` is 1, 3, 4 and 5. Errors are returned as
 * texts with kube-apiserver's messages.
 */
import { goQuote } from '#api/go-syntax.ts'

interface Interval {
  readonly first: number
  readonly last: number
}

const isProblem = (value: Interval | string): value is string => typeof value === 'string'

/** The number of indexes, or why the text cannot be read. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let previous: number | undefined
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions)
    if (isProblem(interval)) return interval
    if (previous !== undefined && previous >= interval.first) {
      return notIncreasing(previous, interval.first)
    }
    total += interval.last - interval.first + 1
    previous = interval.last
  }
  return total
}

const notIncreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`

function parseInterval(text: string, completions: number): Interval | string {
  const [first, last, ...more] = text.split('-') as [string, string?, ...string[]]
  if (more.length > 0) {
    return `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  }
  const x = parseIndex(first, completions)
  if (typeof x === 'string') return x
  if (last === undefined) return { first: x, last: x }
  const y = parseIndex(last, completions)
  if (typeof y === 'string') return y
  return x >= y ? notIncreasing(x, y) : { first: x, last: y }
}

function parseIndex(text: string, completions: number): number | string {
  if (!/^[-+]?[0-9]+$/.test(text) || !Number.isSafeInteger(Number(text))) {
    return `cannot convert string to integer for index: ${goQuote(text)}`
  }
  const index = Number(text)
  return index >= completions ? `too large index: ${goQuote(text)}` : index
}

/**
 * Why two lists of intervals have an index in common; intervals that cannot be read count as
 * absent.
 */
export function overlapOf(
  completed: string,
  failed: string,
  completions: number,
): string | undefined {
  if (completed === '' || failed === '') return undefined
  const left = readable(completed, completions)
  const right = readable(failed, completions)
  let [i, k] = [0, 0]
  while (i < left.length && k < right.length) {
    const [a, b] = [left[i] as Interval, right[k] as Interval]
    if (a.first <= b.last && b.first <= a.last) {
      return `failedIndexes and completedIndexes overlap at index: ${Math.max(a.first, b.first)}`
    }
    if (a.first <= b.first) i++
    else k++
  }
  return undefined
}

const readable = (text: string, completions: number): Interval[] =>
  text.split(',').flatMap((part) => {
    const interval = parseInterval(part, completions)
    return isProblem(interval) ? [] : [interval]
  })
