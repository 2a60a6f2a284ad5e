/** Encodes JSON like Go, which escapes the special characters of HTML. */
import type { Json } from '#api/object-meta.ts'
import { sortedCopy } from '#schema/structural/sorted-copy.ts'

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

export const encodeGoJson = (value: Json): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (found) => escapes[found] as string)

/** Sorts the keys of every object, as Go does for maps. */
export const encodeGoMap = (value: Json): string => encodeGoJson(sortedCopy(value))
