/**
 * The order of members in kube-apiserver's text of a patched object: maps that the patch visited
 * have sorted keys, others keep their order. It is visible only in the error message for an object
 * that cannot be decoded. Arguments are not changed.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap, type JsonMap, ownValue, setMember } from './json-map.ts'

/** The result of a merge patch. */
export function mergedOrder(result: Json, document: Json, patch: Json): Json {
  if (!isMap(document)) return allSorted(result)
  if (!isMap(patch) || !isMap(result)) return result
  return sorted(result, (name, value) => {
    if (!Object.hasOwn(patch, name)) return value
    return mergedOrder(value, ownValue(document, name) ?? null, patch[name] as Json)
  })
}

/** The result of a JSON patch: containers on the paths of its operations are sorted. */
export function operatedOrder(result: Json, operations: Json): Json {
  const ways = (Array.isArray(operations) ? operations : []).flatMap((operation) =>
    isMap(operation) ? [...way(operation, 'path'), ...way(operation, 'from')] : [],
  )
  return sortedAlong(result, ways)
}

/** The path of an operation's container, as names. */
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

/** Sorts all maps of a custom object. */
export function allSorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(allSorted)
  return isMap(value) ? sorted(value, (_, member) => allSorted(member)) : value
}

function sorted(map: JsonMap, member: (name: string, value: Json) => Json): JsonMap {
  const out: JsonMap = {}
  for (const name of Object.keys(map).sort()) setMember(out, name, member(name, map[name] as Json))
  return out
}
