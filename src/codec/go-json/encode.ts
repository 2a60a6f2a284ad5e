/** JSON as Go writes it: what HTML could take for its own is escaped. */
import type { Json } from '#api/object-meta.ts'

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

export const encodeGoJson = (value: Json): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (found) => escapes[found] as string)

/** With the keys of every object sorted, as Go writes maps. */
export const encodeGoMap = (value: Json): string => encodeGoJson(inKeyOrder(value))

function inKeyOrder(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(inKeyOrder)
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inKeyOrder(value[key] as Json)]),
  )
}
