/**
 * What is known of values met before, for values that come again and again: the specification in
 * the replicas of one template. To compare two values costs far less than most of what can be found
 * out about one. Where values never come again hardly any is kept, so that nothing is copied in
 * vain.
 */
import type { Json } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { equalValues } from './json-map.ts'

/** Templates whose replicas are made at the same time, about. */
const keptMax = 8
/** After so many that were new, only one of so many is kept. */
const newMax = 16
/** Members, items and characters of a value that is kept. */
const weightMax = 32_768

export class RecentValuesCache<Known> {
  /** The one met last stands first. */
  readonly #met: { readonly value: Json; readonly known: Known }[] = []
  #news = 0

  find(value: Json): Known | undefined {
    const met = this.#met
    for (let i = 0; i < met.length; i++) {
      const one = met[i] as (typeof met)[number]
      if (!equalValues(one.value, value)) continue
      this.#news = 0
      if (i > 0) {
        met.splice(i, 1)
        met.unshift(one)
      }
      return one.known
    }
    return undefined
  }

  /**
   * Of a value that was not found. It is copied: a later change of the value does not
   * change what is known.
   */
  keep(value: Json, known: Known): void {
    this.#news++
    if (this.#news > newMax && this.#news % newMax !== 0) return
    if (weightOf(value) > weightMax) return
    this.#met.unshift({ value: copyData(value), known })
    if (this.#met.length > keptMax) this.#met.pop()
  }
}

/**
 * What is null may have been written empty, which a copy does not know: it is too heavy for any
 * scale.
 */
function weightOf(value: Json): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object') return 0
  if (value === null) return Number.POSITIVE_INFINITY
  let weight = 0
  for (const name in value) {
    weight += 1 + weightOf((value as Record<string, Json>)[name] as Json)
    if (weight > weightMax) break
  }
  return weight
}
