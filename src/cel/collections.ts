/**
 * Lists and maps that expressions make.
 *
 * A macro builds its result element by element: `l.map(x, f(x))` is `@result + [f(x)]` for each x.
 * Joining lists each time would take quadratic time, so the accumulator is a growing list that no
 * expression can see until it is done.
 */
import { equal } from './equality.ts'
import { CelError, ListValue, MapValue, Uint, type Value } from './values.ts'
import { chargeList } from './work.ts'

export class ArrayList extends ListValue {
  readonly elements: readonly Value[]
  constructor(elements: readonly Value[]) {
    super()
    this.elements = elements
  }
  get size(): number {
    return this.elements.length
  }
  at(index: number): Value {
    return this.elements[index] as Value
  }
  concat(other: ListValue): Value {
    return joinLists(this, other)
  }
}

export const emptyList = new ArrayList([])

/** The accumulator of a macro that makes a list. Appending changes it in place. */
export class GrowingList extends ListValue {
  readonly elements: Value[] = []
  get size(): number {
    return this.elements.length
  }
  at(index: number): Value {
    return this.elements[index] as Value
  }
  concat(other: ListValue): Value {
    for (const element of other) this.elements.push(element)
    return this
  }
  toList(): ArrayList {
    return new ArrayList(this.elements)
  }
}

/**
 * Deepest chain of joined lists that is kept as a chain; a longer one is copied, so that reading it
 * stays cheap.
 */
const joinDepthMax = 32

/** Two lists after each other, without a copy. `l + l` doubles the size and not the memory. */
class JoinedList extends ListValue {
  readonly first: ListValue
  readonly second: ListValue
  readonly size: number
  readonly depth: number
  constructor(first: ListValue, second: ListValue) {
    super()
    this.first = first
    this.second = second
    this.size = first.size + second.size
    this.depth = 1 + Math.max(depthOf(first), depthOf(second))
  }
  at(index: number): Value {
    const split = this.first.size
    return index < split ? this.first.at(index) : this.second.at(index - split)
  }
  concat(other: ListValue): Value {
    return joinLists(this, other)
  }
}

const depthOf = (list: ListValue): number => (list instanceof JoinedList ? list.depth : 0)

export function joinLists(first: ListValue, second: ListValue): ListValue {
  if (first.size === 0) return second
  if (second.size === 0) return first
  const joined = new JoinedList(first, second)
  if (joined.depth <= joinDepthMax) return joined
  chargeList(joined.size)
  return new ArrayList([...joined])
}

type MapKey = string | bigint | boolean | number

/**
 * What a map finds a key by. Numbers of all three types meet: `{1: 'a'}[1.0]` and `{1: 'a'}[1u]`
 * find 'a'.
 */
function keyOf(key: Value): MapKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'bigint':
    case 'boolean':
      return key
    case 'number':
      return Number.isInteger(key) ? BigInt(key) : key
  }
  return key instanceof Uint ? key.value : undefined
}

/** A map of an expression, in the order of its entries. */
export class EntryMap extends MapValue {
  readonly #entries: ReadonlyMap<MapKey, readonly [Value, Value]>
  constructor(entries: ReadonlyMap<MapKey, readonly [Value, Value]>) {
    super()
    this.#entries = entries
  }
  get size(): number {
    return this.#entries.size
  }
  find(key: Value): Value | undefined {
    const known = keyOf(key)
    return known === undefined ? undefined : this.#entries.get(known)?.[1]
  }
  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key
  }
}

/** Collects the entries of a map. */
export class MapBuilder extends MapValue {
  readonly #entries = new Map<MapKey, readonly [Value, Value]>()
  get size(): number {
    return this.#entries.size
  }
  find(key: Value): Value | undefined {
    const known = keyOf(key)
    return known === undefined ? undefined : this.#entries.get(known)?.[1]
  }
  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key
  }
  set(key: Value, value: Value): CelError | undefined {
    const known = keyOf(key)
    if (known === undefined) return new CelError('unsupported key type')
    this.#entries.set(known, [key, value])
    return undefined
  }
  remove(key: Value): void {
    const known = keyOf(key)
    if (known !== undefined) this.#entries.delete(known)
  }
  toMap(): EntryMap {
    return new EntryMap(this.#entries)
  }
}

export function mapOfEntries(entries: Iterable<readonly [Value, Value]>): EntryMap {
  const builder = new MapBuilder()
  for (const [key, value] of entries) builder.set(key, value)
  return builder.toMap()
}

/** Whether a list contains a value, compared as `==` compares. */
export function listContains(list: ListValue, value: Value): boolean {
  for (const element of list) if (equal(value, element) === true) return true
  return false
}
