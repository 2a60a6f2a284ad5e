/**
 * Numbers that are annotations in apps/v1 and apps/v1beta2, and fields in other versions. An
 * invalid number makes decoding fail, like a value of the wrong type.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'

const versions = new Set(['apps/v1', 'apps/v1beta2'])
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/** strconv.ParseInt's error for a text that is not a 64-bit integer. */
function numberProblem(text: string): string | undefined {
  const parsing = `strconv.ParseInt: parsing ${goQuote(text)}`
  if (!/^[-+]?[0-9]+$/.test(text)) return `${parsing}: invalid syntax`
  const number = BigInt(text.replace(/^\+/, ''))
  return number < int64.min || number > int64.max ? `${parsing}: value out of range` : undefined
}

/** `words`: the error text; `unset`: a text that counts as absent. */
export const annotationNumberError =
  (key: string, words = (_text: string, why: string) => why, unset?: string) =>
  ({ metadata: { annotations } }: KubeObject, apiVersion: string): string | undefined => {
    if (!annotations || !versions.has(apiVersion)) return undefined
    if (!Object.hasOwn(annotations, key) || annotations[key] === unset) return undefined
    const text = annotations[key] as string
    const why = numberProblem(text)
    return why === undefined ? undefined : words(text, why)
  }
