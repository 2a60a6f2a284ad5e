/**
 * Finds the objects with a label and value. The index of a label is made when a selector first uses
 * it, and then updated with each change. It only narrows the search; the selector still checks each
 * object.
 */
import type { Entry } from './entry.ts'

/** Labels indexed for one resource; the least recently used is evicted first. */
const labelsMax = 8

/** Most values belong to one object, which needs no set. */
type Holders = Entry | Set<Entry>

export class LabelIndex {
  readonly #byLabel = new Map<string, Map<string, Holders>>()

  /**
   * All objects with a value, unordered. `all`: the objects to index when the label is used for the
   * first time.
   */
  holders(label: string, value: string, all: Iterable<Entry>): Entry[] {
    const values = this.#byLabel.get(label) ?? this.#make(label, all)
    this.#byLabel.delete(label)
    this.#byLabel.set(label, values)
    const found = values.get(value)
    if (found === undefined) return []
    return found instanceof Set ? [...found] : [found]
  }

  replace(previous: Entry | undefined, entry: Entry | undefined): void {
    for (const [label, values] of this.#byLabel) {
      if (previous !== undefined) remove(values, valueOf(previous, label), previous)
      if (entry !== undefined) add(values, valueOf(entry, label), entry)
    }
  }

  #make(label: string, all: Iterable<Entry>): Map<string, Holders> {
    const values = new Map<string, Holders>()
    for (const entry of all) add(values, valueOf(entry, label), entry)
    if (this.#byLabel.size === labelsMax)
      this.#byLabel.delete(this.#byLabel.keys().next().value as string)
    return values
  }
}

const valueOf = ({ labels }: Entry, label: string): string | undefined =>
  labels !== undefined && labels !== null && Object.hasOwn(labels, label)
    ? labels[label]
    : undefined

function add(values: Map<string, Holders>, value: string | undefined, entry: Entry): void {
  if (value === undefined) return
  const known = values.get(value)
  if (known === undefined) values.set(value, entry)
  else if (known instanceof Set) known.add(entry)
  else values.set(value, new Set([known, entry]))
}

function remove(values: Map<string, Holders>, value: string | undefined, entry: Entry): void {
  if (value === undefined) return
  const known = values.get(value)
  if (known instanceof Set) known.delete(entry)
  if (known === entry || (known instanceof Set && known.size === 0)) values.delete(value)
}
