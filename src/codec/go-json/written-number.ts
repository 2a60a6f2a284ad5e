/**
 * Preserves the digits of numbers through a patch. A number that is not a short integer is replaced
 * by a text that cannot occur otherwise. Encoding the patched object restores the number.
 */
import type { Json } from '#api/object-meta.ts'
import { encodeGoJson } from './encode.ts'

const mark = '\u0000number '
const marked = /"\\u0000number ([-+.eE0-9]+)"/g

/** Parses a patch with its numbers marked. If some text looks like a mark, no number is marked. */
export function withWrittenNumbers(bytes: Buffer): Json {
  const text = bytes.toString('utf8')
  const isFree = !text.includes('\\u0000number')
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    isFree && typeof value === 'number' && context?.source !== undefined
      ? markOf(value, context.source)
      : value,
  )
}

const markOf = (value: number, source: string): Json =>
  /^-?[0-9]{1,15}$/.test(source) ? value : `${mark}${source}`

/**
 * The JSON of a patched object with sorted keys in merged parts and numbers as written.
 */
export const textWithNumbers = (value: Json): string =>
  encodeGoJson(withSortedKeys(value)).replace(marked, (_, number: string) => number)

function withSortedKeys(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
