/**
 * Random JSON texts of an object: values that do not fit, and keys that are written twice. The
 * object is not changed.
 */
import type { Json } from '#api/object-meta.ts'
import type { Random } from './random.ts'

/** What stands where something else should: every kind of value, and numbers of every spelling. */
const oddValues: readonly string[] = [
  'null',
  'true',
  '""',
  '"x"',
  '"äöü→日本"',
  '"a\\u0041\\"b"',
  '"2021-13-01T00:00:00Z"',
  '"2021-02-30T00:00:00Z"',
  '"2021-02-03T04:05:06.7+01:00"',
  '"2021-02-03 04:05:06Z"',
  '"YWJj"',
  '"YW Jj"',
  '"YWI"',
  '"1m"',
  '"1x"',
  '"10Gi"',
  '"1.2.3"',
  '0',
  '-0',
  '1',
  '7',
  '-1',
  '1.0',
  '1.5',
  '-2.50',
  '1e3',
  '1E-2',
  '0.0',
  '4294967296',
  '6000000000',
  '-6000000000',
  '99999999999',
  '2147483648',
  '9223372036854775808',
  '30000000000000000000',
  '123456789012345678901234567890',
  '[]',
  '[1]',
  '["a", "b"]',
  '[null]',
  '[{}]',
  '[[]]',
  '{}',
  '{"a":1}',
  '{"a":"b","c":null}',
  '{"name": "x", "name": 7}',
]

export function oddText(object: Json, random: Random): string {
  const places = countPlaces(object)
  const odd = new Set([random.below(places), ...(random.chance(0.3) ? [random.below(places)] : [])])
  return new Writer(random, odd, random.chance(0.3)).write(object)
}

function countPlaces(value: Json): number {
  if (value === null || typeof value !== 'object') return 1
  return Object.values(value).reduce((sum: number, item) => sum + countPlaces(item as Json), 1)
}

class Writer {
  readonly #random: Random
  readonly #odd: ReadonlySet<number>
  readonly #spaced: boolean
  #place = 0

  constructor(random: Random, odd: ReadonlySet<number>, spaced: boolean) {
    this.#random = random
    this.#odd = odd
    this.#spaced = spaced
  }

  /** The top itself is never replaced: it is either left or has a key twice. */
  write(value: Json, top = true): string {
    const isOdd = this.#odd.has(this.#place++)
    if (isOdd && !top && this.#random.chance(0.7)) return this.#random.pick(oddValues)
    if (value === null || typeof value !== 'object') return JSON.stringify(value)
    if (Array.isArray(value)) {
      return `[${value.map((item) => this.write(item, false)).join(this.#comma())}]`
    }
    const members = Object.entries(value).map(([key, item]) => this.#member(key, item, top))
    if (isOdd && members.length > 0) members.push(this.#again(value, members, top))
    return `{${members.join(this.#comma())}}`
  }

  #member(key: string, item: Json, top: boolean): string {
    const kept = top && (key === 'kind' || key === 'apiVersion')
    return `${JSON.stringify(key)}${this.#colon()}${kept ? JSON.stringify(item) : this.write(item, false)}`
  }

  /** One of the members once more: the same, or with another value. */
  #again(value: { [key: string]: Json }, members: readonly string[], top: boolean): string {
    const keys = Object.keys(value).filter((key) => !(top && /^(kind|apiVersion)$/.test(key)))
    if (keys.length === 0 || this.#random.chance(0.3)) return this.#random.pick(members)
    return `${JSON.stringify(this.#random.pick(keys))}${this.#colon()}${this.#random.pick(oddValues)}`
  }

  #comma(): string {
    return this.#spaced ? this.#random.pick([',', ', ', ',\n  ', ' ,']) : ','
  }

  #colon(): string {
    return this.#spaced ? this.#random.pick([':', ': ', ' : ']) : ':'
  }
}
