/**
 * An ordered map of string keys with free snapshots: a leaf is copied only if it changes after a
 * snapshot was taken. Keys are compared by UTF-16 code units, which for the ASCII keys of a store
 * is byte order.
 *
 * Two levels are enough: a hundred thousand entries are about a thousand leaves, and copying a
 * thousand pointers after a snapshot takes a microsecond.
 */

/**
 * Maximum entries per leaf: small enough to shift entries on insert, large enough to keep the upper
 * level short.
 */
const leafSizeMax = 128

interface Leaf<V> {
  keys: string[]
  values: V[]
  epoch: number
}

/** Called for each entry of a range in order. Return false to stop. */
export type Visit<V> = (value: V, key: string) => boolean | undefined | void

export class SortedSnapshot<V> {
  readonly #leaves: readonly Leaf<V>[]
  constructor(leaves: readonly Leaf<V>[]) {
    this.#leaves = leaves
  }

  visit(start: string, end: string, visit: Visit<V>): void {
    visitLeaves(this.#leaves, start, end, visit)
  }

  count(start: string, end: string): number {
    return countLeaves(this.#leaves, start, end)
  }
}

export class SortedMap<V> {
  #leaves: Leaf<V>[] = []
  /** In a fork, undefined marks a key that was deleted since. */
  #byKey = new Map<string, V | undefined>()
  /** In a fork, the values of the map that it was forked from. */
  #base: ReadonlyMap<string, V | undefined> | undefined
  #size = 0
  #epoch = 0
  #leavesShared = false

  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    const own = this.#byKey.get(key)
    if (own !== undefined || this.#base === undefined) return own
    return this.#byKey.has(key) ? undefined : this.#base.get(key)
  }

  /**
   * A map with the same entries, in constant time. It copies a leaf when it changes it. This map
   * must not change any more.
   */
  fork(): SortedMap<V> {
    if (this.#base !== undefined) throw new Error('a fork of a sorted map has no forks')
    const fork = new SortedMap<V>()
    fork.#leaves = this.#leaves
    fork.#leavesShared = true
    fork.#epoch = this.#epoch + 1
    fork.#base = this.#byKey
    fork.#size = this.#size
    return fork
  }

  set(key: string, value: V): V | undefined {
    const previous = this.get(key)
    if (previous === undefined) this.#size++
    this.#byKey.set(key, value)
    if (this.#leaves.length === 0) {
      this.#ownLeaves()
      this.#leaves.push({ keys: [key], values: [value], epoch: this.#epoch })
      return previous
    }
    const at = leafFor(this.#leaves, key)
    const leaf = this.#ownLeaf(at)
    const i = lowerBound(leaf.keys, key)
    if (leaf.keys[i] === key) leaf.values[i] = value
    else {
      leaf.keys.splice(i, 0, key)
      leaf.values.splice(i, 0, value)
      if (leaf.keys.length > leafSizeMax) this.#split(at, leaf, i)
    }
    return previous
  }

  delete(key: string): V | undefined {
    const previous = this.get(key)
    if (previous === undefined) return undefined
    this.#size--
    if (this.#base?.has(key)) this.#byKey.set(key, undefined)
    else this.#byKey.delete(key)
    const at = leafFor(this.#leaves, key)
    const leaf = this.#ownLeaf(at)
    const i = lowerBound(leaf.keys, key)
    leaf.keys.splice(i, 1)
    leaf.values.splice(i, 1)
    if (leaf.keys.length === 0) this.#leaves.splice(at, 1)
    return previous
  }

  snapshot(): SortedSnapshot<V> {
    this.#epoch++
    this.#leavesShared = true
    return new SortedSnapshot(this.#leaves)
  }

  values(): Iterable<V> {
    if (this.#base !== undefined) return this.#leaves.flatMap(({ values }) => values)
    return this.#byKey.values() as Iterable<V>
  }

  visit(start: string, end: string, visit: Visit<V>): void {
    visitLeaves(this.#leaves, start, end, visit)
  }

  count(start: string, end: string): number {
    return countLeaves(this.#leaves, start, end)
  }

  #ownLeaves(): void {
    if (!this.#leavesShared) return
    this.#leaves = this.#leaves.slice()
    this.#leavesShared = false
  }

  #ownLeaf(at: number): Leaf<V> {
    this.#ownLeaves()
    const leaf = this.#leaves[at]
    if (leaf.epoch === this.#epoch) return leaf
    const own = { keys: leaf.keys.slice(), values: leaf.values.slice(), epoch: this.#epoch }
    this.#leaves[at] = own
    return own
  }

  /**
   * Splits a leaf in the middle. If keys arrive in order, splits at the end, so that leaves stay
   * full.
   */
  #split(at: number, leaf: Leaf<V>, inserted: number): void {
    const cut = inserted === leaf.keys.length - 1 ? leaf.keys.length - 1 : leaf.keys.length >> 1
    const right = {
      keys: leaf.keys.splice(cut),
      values: leaf.values.splice(cut),
      epoch: this.#epoch,
    }
    this.#leaves.splice(at + 1, 0, right)
  }
}

/** The index of the first key that is not less than `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle] < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The last leaf whose first key is not greater than `key`, or the first leaf. */
function leafFor<V>(leaves: readonly Leaf<V>[], key: string): number {
  let low = 0
  let high = leaves.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (leaves[middle].keys[0] <= key) low = middle
    else high = middle - 1
  }
  return low
}

function visitLeaves<V>(leaves: readonly Leaf<V>[], start: string, end: string, visit: Visit<V>) {
  if (leaves.length === 0) return
  let at = leafFor(leaves, start)
  let i = lowerBound(leaves[at].keys, start)
  for (; at < leaves.length; at++, i = 0) {
    const { keys, values } = leaves[at]
    // Most leaves lie completely within the range, so their keys need not be compared.
    const until = keys[keys.length - 1] < end ? keys.length : lowerBound(keys, end)
    for (; i < until; i++) if (visit(values[i], keys[i]) === false) return
    if (until < keys.length) return
  }
}

function countLeaves<V>(leaves: readonly Leaf<V>[], start: string, end: string): number {
  if (leaves.length === 0) return 0
  return rank(leaves, end) - rank(leaves, start)
}

/** The number of keys less than `key`. */
function rank<V>(leaves: readonly Leaf<V>[], key: string): number {
  const at = leafFor(leaves, key)
  let before = 0
  for (let i = 0; i < at; i++) before += leaves[i].keys.length
  return before + lowerBound(leaves[at].keys, key)
}
