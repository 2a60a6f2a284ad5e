/**
 * Counters, gauges and histograms with labels. A family creates one child for each combination of
 * label values. Frequent observers cache their child, so that an observation is an addition without
 * building strings.
 */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** The lines of all children, without HELP and TYPE. `name` replaces the name of the family. */
  write(out: string[], name?: string): void
  /** Deletes all children that have these labels, after the object they describe is deleted. */
  forget(labels: Labels): void
  /** Replaces all other values of these labels with `unexpected`. */
  limit(allowed: AllowedValues): void
}

export type Labels = Readonly<Record<string, string>>

/** The allowed values of labels, by label name. */
export type AllowedValues = ReadonlyMap<string, ReadonlySet<string>>

/** The label value that replaces values that are not allowed. */
const unexpected = 'unexpected'

/** Formats values like Prometheus. */
export function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  if (Number.isNaN(value)) return 'NaN'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value)
  // Go writes exponents with two digits.
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

const escaped = (value: string) =>
  /[\\"\n]/.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : value

const labelText = (name: string, value: string) => `${name}="${escaped(value)}"`

/** `verb="GET",code="200"` */
const labelsText = (names: readonly string[], values: readonly string[]) =>
  names.map((name, at) => labelText(name, values[at] ?? '')).join(',')

const braced = (labels: string) => (labels === '' ? '' : `{${labels}}`)

/**
 * The maximum number of children of a family. Further label values share one child, which is not
 * exposed.
 */
const childrenMax = 20_000

/** The children of one family by their label text. */
class Children<Child> {
  readonly #labelNames: readonly string[]
  readonly #make: () => Child
  readonly #known = new Map<string, Child>()
  #beyond: Child | undefined
  allowed: AllowedValues | undefined

  constructor(labelNames: readonly string[], make: () => Child) {
    this.#labelNames = labelNames
    this.#make = make
  }

  [Symbol.iterator](): Iterator<[string, Child]> {
    return this.#known.entries()
  }

  /** The child with these label values, always the same one. */
  of(values: readonly string[]): Child {
    const key = this.#keyOf(values)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= childrenMax) {
      this.#beyond ??= this.#make()
      return this.#beyond
    }
    const made = this.#make()
    this.#known.set(key, made)
    return made
  }

  forget(labels: Labels): void {
    const names = this.#labelNames
    const given = Object.entries(labels)
    if (!given.every(([name]) => names.includes(name))) return
    if (given.length === names.length) {
      const values = names.map((name) => labels[name] ?? '')
      this.#known.delete(labelsText(names, values))
      return
    }
    const texts = given.map(([name, value]) => `,${labelText(name, value)},`)
    for (const key of this.#known.keys()) {
      const whole = `,${key},`
      if (texts.every((text) => whole.includes(text))) this.#known.delete(key)
    }
  }

  #keyOf(values: readonly string[]): string {
    const names = this.#labelNames
    const { allowed } = this
    if (allowed === undefined) return labelsText(names, values)
    const isAllowed = (value: string, at: number) => allowed.get(names[at])?.has(value) !== false
    return labelsText(
      names,
      values.map((value, at) => (isAllowed(value, at) ? value : unexpected)),
    )
  }
}

export class MetricValue {
  value = 0

  add(amount: number): void {
    this.value += amount
  }

  set(value: number): void {
    this.value = value
  }
}

class ValueFamily implements Family {
  readonly type: 'counter' | 'gauge'
  readonly name: string
  readonly #children: Children<MetricValue>

  constructor(type: 'counter' | 'gauge', name: string, labelNames: readonly string[]) {
    this.type = type
    this.name = name
    this.#children = new Children(labelNames, () => new MetricValue())
  }

  labels(...values: string[]): MetricValue {
    return this.#children.of(values)
  }

  /** The sum of all children. */
  total(): number {
    let sum = 0
    for (const [, { value }] of this.#children) sum += value
    return sum
  }

  forget(labels: Labels): void {
    this.#children.forget(labels)
  }

  limit(allowed: AllowedValues): void {
    this.#children.allowed = allowed
  }

  write(out: string[], name = this.name): void {
    for (const [labels, { value }] of this.#children) {
      out.push(`${name}${braced(labels)} ${valueText(value)}`)
    }
  }
}

export type { ValueFamily }
export const counter = (name: string, ...labelNames: string[]) =>
  new ValueFamily('counter', name, labelNames)
export const gauge = (name: string, ...labelNames: string[]) =>
  new ValueFamily('gauge', name, labelNames)

export class Distribution {
  /**
   * Observations per bucket, not cumulative; the last count is for values above the highest bound.
   */
  readonly counts: Float64Array
  readonly #bounds: Float64Array
  sum = 0

  constructor(bounds: Float64Array) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    this.sum += value
    const bounds = this.#bounds
    // A linear search, because most observations are in the first buckets.
    let at = 0
    if (bounds.length > 0 && value > bounds[0]) {
      let low = 1
      let high = bounds.length
      while (low < high) {
        const middle = (low + high) >> 1
        if (value <= bounds[middle]) high = middle
        else low = middle + 1
      }
      at = low
    }
    this.counts[at]++
  }
}

export class HistogramFamily implements Family {
  readonly type = 'histogram'
  readonly name: string
  readonly #bounds: Float64Array
  readonly #children: Children<Distribution>

  constructor(name: string, bounds: readonly number[], labelNames: readonly string[]) {
    this.name = name
    this.#bounds = Float64Array.from(bounds)
    this.#children = new Children(labelNames, () => new Distribution(this.#bounds))
  }

  labels(...values: string[]): Distribution {
    return this.#children.of(values)
  }

  forget(labels: Labels): void {
    this.#children.forget(labels)
  }

  limit(allowed: AllowedValues): void {
    this.#children.allowed = allowed
  }

  write(out: string[], name = this.name): void {
    for (const [labels, { counts, sum }] of this.#children) {
      // A metric without labels has values from the start.
      if (labels !== '' && counts.every((count) => count === 0)) continue
      const before = labels === '' ? '' : `${labels},`
      let count = 0
      for (let at = 0; at < counts.length; at++) {
        count += counts[at]
        const bound = at < this.#bounds.length ? valueText(this.#bounds[at]) : '+Inf'
        out.push(`${name}_bucket{${before}le="${bound}"} ${count}`)
      }
      out.push(`${name}_sum${braced(labels)} ${valueText(sum)}`)
      out.push(`${name}_count${braced(labels)} ${count}`)
    }
  }
}

/** The same values under a second name, while a release has both the old and the new one. */
export const alias = (name: string, family: Family): Family => ({
  name,
  type: family.type,
  write: (out) => family.write(out, name),
  // The family forgets and limits its children itself.
  forget() {},
  limit: (allowed) => family.limit(allowed),
})

export const histogram = (name: string, bounds: readonly number[], ...labelNames: string[]) =>
  new HistogramFamily(name, bounds, labelNames)

/** `count` bucket bounds; each is `factor` times the previous one. */
export function exponentialBounds(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => start * factor ** at)
}
