/**
 * Counters, gauges and histograms with labels. A family hands out children, one for each set of label values; whoever
 * observes often keeps the child, so that an observation is an addition and never builds a string.
 */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** The lines of all children, without HELP and TYPE. */
  write(out: string[]): void
}

/** Values as Prometheus writes them. */
export function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return Number.isNaN(value) ? 'NaN' : String(value)
}

const escaped = (value: string) =>
  /[\\"\n]/.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : value

/** `verb="GET",code="200"` */
const labelsText = (names: readonly string[], values: readonly string[]) =>
  names.map((name, at) => `${name}="${escaped(values[at] ?? '')}"`).join(',')

const braced = (labels: string) => (labels === '' ? '' : `{${labels}}`)

/** Most children of one family: beyond it, new label values fall into one child that is not shown. */
const childrenMax = 20_000

abstract class LabelledFamily<Child> implements Family {
  readonly name: string
  abstract readonly type: Family['type']
  readonly labelNames: readonly string[]
  protected readonly children = new Map<string, Child>()
  #beyond: Child | undefined

  constructor(name: string, labelNames: readonly string[]) {
    this.name = name
    this.labelNames = labelNames
  }

  /** The child with these label values, always the same one. */
  labels(...values: string[]): Child {
    const key = labelsText(this.labelNames, values)
    const known = this.children.get(key)
    if (known !== undefined) return known
    if (this.children.size >= childrenMax) {
      this.#beyond ??= this.make()
      return this.#beyond
    }
    const made = this.make()
    this.children.set(key, made)
    return made
  }

  reset(): void {
    this.children.clear()
  }

  protected abstract make(): Child
  abstract write(out: string[]): void
}

export class Value {
  value = 0

  add(amount: number): void {
    this.value += amount
  }

  set(value: number): void {
    this.value = value
  }
}

class ValueFamily extends LabelledFamily<Value> {
  readonly type: 'counter' | 'gauge'

  constructor(type: 'counter' | 'gauge', name: string, labelNames: readonly string[]) {
    super(name, labelNames)
    this.type = type
  }

  protected make(): Value {
    return new Value()
  }

  write(out: string[]): void {
    for (const [labels, { value }] of this.children) out.push(`${this.name}${braced(labels)} ${valueText(value)}`)
  }
}

export type { ValueFamily }
export const counter = (name: string, ...labelNames: string[]) => new ValueFamily('counter', name, labelNames)
export const gauge = (name: string, ...labelNames: string[]) => new ValueFamily('gauge', name, labelNames)

export class Distribution {
  /** Observations per bucket, not yet summed up; the last one is everything above the highest bound. */
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
    // Most observations fall into the first buckets.
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

export class HistogramFamily extends LabelledFamily<Distribution> {
  readonly type = 'histogram'
  readonly #bounds: Float64Array

  constructor(name: string, bounds: readonly number[], labelNames: readonly string[]) {
    super(name, labelNames)
    this.#bounds = Float64Array.from(bounds)
  }

  protected make(): Distribution {
    return new Distribution(this.#bounds)
  }

  write(out: string[]): void {
    for (const [labels, { counts, sum }] of this.children) {
      if (counts.every((count) => count === 0)) continue
      const before = labels === '' ? '' : `${labels},`
      let count = 0
      for (let at = 0; at < counts.length; at++) {
        count += counts[at]
        const bound = at < this.#bounds.length ? valueText(this.#bounds[at]) : '+Inf'
        out.push(`${this.name}_bucket{${before}le="${bound}"} ${count}`)
      }
      out.push(`${this.name}_sum${braced(labels)} ${valueText(sum)}`)
      out.push(`${this.name}_count${braced(labels)} ${count}`)
    }
  }
}

export const histogram = (name: string, bounds: readonly number[], ...labelNames: string[]) =>
  new HistogramFamily(name, bounds, labelNames)

/** `count` bounds, each `factor` times the one before. */
export function exponentialBounds(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => start * factor ** at)
}
