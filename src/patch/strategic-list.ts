/**
 * Lists in a strategic merge patch. Maps are matched by their merge key, other items by value. In
 * the result, items in the patch have the patch's order and the others the live order.
 */
import type { Json } from '#api/object-meta.ts'
import type { Type } from '#schema/type.ts'
import { goText, goType, goValue } from './go-value.ts'
import { isMap, type JsonMap, ownValue } from './json-map.ts'
import { type PatchRule, StrategicError, wrongType } from './strategic-rule.ts'

export type MergeMaps = (original: JsonMap, patch: JsonMap, type: Type) => JsonMap

const directive = '$patch'
const mapType = 'map[string]interface {}'

/** `deletes`: the patch lists plain items to delete. */
export function mergeItems(
  before: Json[],
  change: Json[],
  rule: PatchRule,
  deletes: boolean,
  mergeMaps: MergeMaps,
): Json[] {
  if (before.length === 0 && change.length === 0) return before
  if (elementType(before, change) !== mapType) {
    const gone = new Set(change)
    if (deletes) return before.filter((item) => !gone.has(item))
    return weave(withoutRepeats([...before, ...change]), change, before, '')
  }
  const { mergeKey } = rule
  if (mergeKey === '') {
    throw new StrategicError(`cannot merge lists without merge key for ${goKindOfItems(rule.type)}`)
  }
  const { live, named } = withoutDirectives(before as JsonMap[], change as JsonMap[], mergeKey)
  const merged = [...live]
  const placeOf = places(merged, (item) => ownValue(item, mergeKey))
  for (const item of named) {
    const key = keyOf(item, mergeKey)
    const at = placeOf.get(key)
    if (at === undefined) {
      placeOf.set(key, merged.length)
      merged.push(item)
      continue
    }
    merged[at] = mergeMaps(merged[at] as JsonMap, item, rule.type)
    // A patch that sets the merge key to null removes the key from the item.
    if (ownValue(merged[at], mergeKey) === key) continue
    let next = at + 1
    while (next < merged.length && ownValue(merged[next] as JsonMap, mergeKey) !== key) next++
    if (next < merged.length) placeOf.set(key, next)
    else placeOf.delete(key)
  }
  return weave(merged, named, live, mergeKey)
}

const goKindOfItems = (type: Type): string => (type.is === 'struct' ? 'struct' : type.is)

/** Removes duplicates; like kube-apiserver, each removed item is replaced by the last item. */
function withoutRepeats(items: Json[]): Json[] {
  const out = [...items]
  const places = new Map<Json, Set<number>>()
  for (const [i, item] of out.entries()) {
    const known = places.get(item)
    if (known === undefined) places.set(item, new Set([i]))
    else known.add(i)
  }
  if (places.size === out.length) return out
  for (let i = 0; i < out.length - 1; i++) {
    const value = out[i] as Json
    const repeats = places.get(value) as Set<number>
    if (repeats.size === 1) continue
    for (const at of [...repeats].sort((a, b) => a - b).slice(1)) {
      // Remove duplicates at the end first, because they replace no item.
      while (out.length > at + 1 && out.at(-1) === value) out.pop()
      if (at >= out.length) break
      const last = out.pop() as Json
      if (at === out.length) break
      out[at] = last
      const moved = places.get(last) as Set<number>
      moved.delete(out.length)
      moved.add(at)
    }
    places.set(value, new Set([i]))
  }
  return out
}

/** The Go type of all items. Items of different types cannot be merged, nor can lists of lists. */
function elementType(...lists: Json[][]): string {
  let type: string | undefined
  for (const list of lists) {
    for (const item of list) {
      const its = goType(item)
      type ??= its
      if (type === '[]interface {}') {
        throw new StrategicError('lists of lists are not supported', 422)
      }
      if (its !== type) {
        throw new StrategicError(`list element types are not identical: ${goValue(lists)}`)
      }
    }
  }
  if (type === undefined) throw new StrategicError('no elements in any of the given slices')
  return type
}

interface Split {
  readonly live: JsonMap[]
  readonly named: JsonMap[]
}

/** Applies and removes the directives in the items of the patch. */
function withoutDirectives(before: JsonMap[], change: JsonMap[], mergeKey: string): Split {
  let replace = false
  const gone = new Set<Json>()
  const named: JsonMap[] = []
  for (const item of change) {
    const order = ownValue(item, directive)
    if (order === undefined) named.push(item)
    else if (order === 'delete') gone.add(keyOf(item, mergeKey))
    else if (order === 'replace') replace = true
    else if (order === 'merge') {
      throw new StrategicError('merging lists cannot yet be specified in the patch')
    } else {
      throw new StrategicError(`unknown patch type: ${goText(order)} in map: ${goValue(item)}`)
    }
  }
  if (replace) return { live: named, named: [] }
  const isGone = (item: JsonMap) => gone.has(ownValue(item, mergeKey) as Json)
  return { live: gone.size === 0 ? before : before.filter((item) => !isGone(item)), named }
}

function keyOf(item: JsonMap, mergeKey: string): Json {
  const key = ownValue(item, mergeKey)
  if (key !== undefined) return key
  throw new StrategicError(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`)
}

/** Merges a list with $setElementOrder; undefined if neither side has the list. */
export function orderItems(
  before: Json[] | undefined,
  change: Json[] | undefined,
  order: Json[],
  rule: PatchRule,
  mergeMaps: MergeMaps,
): Json[] | undefined {
  const { mergeKey, strategy } = rule
  requireSameOrder(change ?? [], order, mergeKey)
  if (before === undefined && change === undefined) return undefined
  let merged = before ?? change ?? []
  if (before !== undefined && change !== undefined) {
    merged = strategy === 'merge' ? mergeItems(before, change, rule, false, mergeMaps) : change
  }
  if (mergeKey !== '') for (const item of merged) requireMap(item)
  if (elementType(before ?? [], change ?? []) === mapType) {
    for (const item of [...merged, ...order, ...(before ?? [])]) keyOf(requireMap(item), mergeKey)
  }
  return weave(merged, order, before ?? [], mergeKey)
}

function requireMap(item: Json): JsonMap {
  if (isMap(item)) return item
  throw wrongType(mapType, item)
}

/** Items of the patch must be in the order of its $setElementOrder. */
function requireSameOrder(change: Json[], order: Json[], mergeKey: string): void {
  if (order.length === 0 || change.length === 0) return
  const kept =
    mergeKey === '' ? change : change.filter((item) => requireMap(item)[directive] !== 'delete')
  let at = 0
  for (const wanted of order) {
    while (at < kept.length && isMap(kept[at]) && Object.hasOwn(kept[at] as JsonMap, directive))
      at++
    if (at >= kept.length) return
    if (sameKey(kept[at] as Json, wanted, mergeKey)) at++
  }
  if (at < kept.length) {
    throw new StrategicError(
      `The order in patch list:\n${goValue(change)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
    )
  }
}

function sameKey(a: Json, b: Json, mergeKey: string): boolean {
  if (mergeKey === '') return a === b
  return keyOf(requireMap(a), mergeKey) === keyOf(requireMap(b), mergeKey)
}

/**
 * Combines the items in the patch with the other items. The former have the patch's order, the
 * latter the live order. An item not in the patch precedes the first patch item that followed it in
 * the live list.
 */
function weave(merged: Json[], patchOrder: Json[], liveOrder: Json[], mergeKey: string): Json[] {
  const key = (item: Json): Json => (mergeKey === '' ? item : keyOf(requireMap(item), mergeKey))
  const inPatch = places(patchOrder, key)
  const inLive = places(liveOrder, key)
  const named = sortByPlace(
    merged.filter((item) => inPatch.has(key(item))),
    (item) => inPatch.get(key(item)),
  )
  const others = sortByPlace(
    merged.filter((item) => !inPatch.has(key(item))),
    (item) => inLive.get(key(item)),
  )
  const out: Json[] = []
  let i = 0
  for (const item of named) {
    const place = inLive.get(key(item))
    while (place !== undefined && i < others.length) {
      const other = inLive.get(key(others[i] as Json))
      if (other === undefined || other >= place) break
      out.push(others[i] as Json)
      i++
    }
    out.push(item)
  }
  return [...out, ...others.slice(i)]
}

/**
 * Sorts by the given order. An unknown item moves before the item in front of it, as in
 * kube-apiserver. This reverses consecutive unknown items.
 */
function sortByPlace(items: Json[], placeOf: (item: Json) => number | undefined): Json[] {
  const all = items.map((item) => ({ item, place: placeOf(item) }))
  if (all.every(({ place }) => place !== undefined)) {
    all.sort((a, b) => (a.place as number) - (b.place as number))
    return all.map(({ item }) => item)
  }
  // `front` is stored in reverse, so that no insertion moves all items.
  const front: typeof all = []
  const back: typeof all = []
  for (const one of all) insert(front, back, one)
  return [...front.reverse(), ...back].map(({ item }) => item)
}

interface Placed {
  readonly item: Json
  readonly place: number | undefined
}

function insert(front: Placed[], back: Placed[], one: Placed): void {
  const wanted = one.place
  if (wanted === undefined) {
    front.push(one)
    return
  }
  const goesBefore = ({ place }: Placed) => place === undefined || wanted < place
  let at = back.length
  while (at > 0 && goesBefore(back[at - 1] as Placed)) at--
  if (at > 0 || front.length === 0) {
    back.splice(at, 0, one)
    return
  }
  while (at < front.length && goesBefore(front[at] as Placed)) at++
  front.splice(at, 0, one)
}

/** The index of each key; the first item with the key counts. */
function places<Item extends Json, Key>(items: Item[], key: (item: Item) => Key): Map<Key, number> {
  const out = new Map<Key, number>()
  for (const [i, item] of items.entries()) if (!out.has(key(item))) out.set(key(item), i)
  return out
}
