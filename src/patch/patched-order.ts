/**
 * The order of members in a patched object as kube-apiserver writes it down to read it again: maps
 * that a patch went through have their keys sorted, the others keep the order they had. It is seen
 * only where the object then cannot be read, and its text is in the message. Nothing given is ever
 * changed.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap, type JsonMap, ownValue, setMember } from './json-map.ts'

/** What a merge patch made of a document. */
export function mergedOrder(result: Json, document: Json, patch: Json): Json {
  if (!isMap(document)) return allSorted(result)
  if (!isMap(patch) || !isMap(result)) return result
  return sorted(result, (name, value) => {
    if (!Object.hasOwn(patch, name)) return value
    return mergedOrder(value, ownValue(document, name) ?? null, patch[name] as Json)
  })
}

/**
 * What the operations of a JSON patch made of a document: the containers on their ways are sorted.
 */
export function operatedOrder(result: Json, operations: Json): Json {
  const ways = (Array.isArray(operations) ? operations : []).flatMap((operation) =>
    isMap(operation) ? [...way(operation, 'path'), ...way(operation, 'from')] : [],
  )
  return sortedAlong(result, ways)
}

/** The names on the way to what an operation is about; the last is not gone through. */
function way(operation: JsonMap, field: string): string[][] {
  const pointer = ownValue(operation, field)
  if (typeof pointer !== 'string') return []
  const names = pointer.split('/').slice(1, -1)
  return [names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))]
}

function sortedAlong(value: Json, ways: readonly string[][]): Json {
  if (ways.length === 0) return value
  const byName = Map.groupBy(ways, ([name]) => name)
  const below = (name: string) => (byName.get(name) ?? []).map((names) => names.slice(1))
  if (Array.isArray(value)) return value.map((item, i) => sortedAlong(item, below(String(i))))
  return isMap(value) ? sorted(value, (name, member) => sortedAlong(member, below(name))) : value
}

/** All the maps of a custom object. */
export function allSorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(allSorted)
  return isMap(value) ? sorted(value, (_, member) => allSorted(member)) : value
}

function sorted(map: JsonMap, member: (name: string, value: Json) => Json): JsonMap {
  const out: JsonMap = {}
  for (const name of Object.keys(map).sort()) setMember(out, name, member(name, map[name] as Json))
  return out
}
