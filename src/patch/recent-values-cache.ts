/**
 * Caches results for values that recur, such as the pod template of many replicas. Comparing two
 * values is much cheaper than computing a result. If values do not recur, the cache keeps few of
 * them, so that it does not copy in vain.
 */
import type { Json } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { equalValues } from './json-map.ts'

/** About the number of templates whose replicas are created at the same time. */
const keptMax = 8
/** After this many consecutive misses only one in this many values is cached. */
const newMax = 16
/** The maximum number of members, items and characters of a cached value. */
const weightMax = 32_768

export class RecentValuesCache<Known> {
  /** Most recently used first. */
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
   * Caches the result for a value that was not found. The value is copied, so later changes to it
   * do not matter.
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
 * A copy does not keep whether a null was written as an empty list. Such values are too heavy to
 * cache.
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
