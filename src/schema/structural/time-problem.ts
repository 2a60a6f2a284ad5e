/** What Go's time package says of a JSON value that should be a time of RFC 3339. */
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { parseTimestamp } from '#api/timestamp.ts'

const layout = '2006-01-02T15:04:05Z07:00'

/** The parts of the layout, in order: how each is written and how much of the text it takes. */
const parts: readonly (readonly [written: string, pattern: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d?/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d(?:[.,]\d+)?/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
]

const ranges: readonly (readonly [name: string, at: number, min: number, max: number])[] = [
  ['month', 5, 1, 12],
  ['day', 8, 1, 31],
  ['hour', 11, 0, 23],
  ['minute', 14, 0, 59],
  ['second', 17, 0, 59],
]

const jsonKind = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

/** Undefined where it is a time, or nothing at all. */
export function timeProblem(value: Json): string | undefined {
  if (value === null) return undefined
  if (typeof value !== 'string') {
    return `json: cannot unmarshal ${jsonKind(value)} into Go value of type string`
  }
  return parseTimestamp(value) === undefined ? whyNoTime(value) : undefined
}

function whyNoTime(text: string): string {
  let rest = text
  for (const [written, pattern] of parts) {
    const found = pattern.exec(rest)
    if (found === null) {
      return `parsing time ${goQuote(text)} as "${layout}": cannot parse ${goQuote(rest)} as "${written}"`
    }
    rest = rest.slice(found[0].length)
  }
  if (rest !== '') return `parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`
  const outside = ranges.find(([, at, min, max]) => {
    const given = Number(text.slice(at, at + 2))
    return given < min || given > max
  })
  return `parsing time ${goQuote(text)}: ${outside?.[0] ?? 'day'} out of range`
}
