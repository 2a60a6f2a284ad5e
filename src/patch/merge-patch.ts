/**
 * JSON Merge Patch (RFC 7386) as in kube-apiserver: null removes a member, maps are merged, other
 * values replace. A new value loses the null members of its maps, at any depth. Before 1.22 it also
 * loses the null items of its lists. Arguments are not changed.
 *
 *     patch {"a": {"b": null, "c": [null, {"d": null}]}} of {}
 *     since 1.22:  {"a": {"c": [null, {}]}}
 *     before:      {"a": {"c": [{}]}}
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Json } from '#api/object-meta.ts'
import { ApiError, badRequest } from '#api/status-error.ts'
import { isMap, type JsonMap, ownValue, setMember } from './json-map.ts'

/**
 * A list as patch replaces the document. Throws ApiError if the patch is neither a list nor a map.
 */
export function applyMergePatch(document: JsonMap, patch: Json, release: number): Json {
  const prune = releaseOf(release).has(keepsNullsInLists) ? withoutNulls : withoutAnyNulls
  if (Array.isArray(patch)) return prune(patch)
  if (!isMap(patch)) {
    const why = 'Invalid JSON Patch'
    throw releaseOf(release).has(blamesClient) ? badRequest(why) : new ApiError(500, '', why)
  }
  return mergeMaps(document, patch, prune)
}

const blamesClient = change('a merge patch that is no object is a bad request', { since: 23 })
const keepsNullsInLists = change('a merge patch keeps nulls in lists', { since: 22 })

type Prune = (value: Json) => Json

function mergeMaps(document: JsonMap, patch: JsonMap, prune: Prune): JsonMap {
  const out: JsonMap = { ...document }
  for (const name in patch) {
    const value = patch[name] as Json
    if (value === null) delete out[name]
    else setMember(out, name, mergeValue(ownValue(document, name) ?? null, value, prune))
  }
  return out
}

function mergeValue(current: Json, value: Json, prune: Prune): Json {
  // kube-apiserver's library keeps the nulls of a list that replaces a map.
  if (isMap(current)) return isMap(value) ? mergeMaps(current, value, prune) : value
  return prune(value)
}

const withoutAnyNulls: Prune = (value) => {
  const kept = withoutNulls(value)
  const drop = (one: Json): Json => {
    if (Array.isArray(one)) return one.filter((item) => item !== null).map(drop)
    if (!isMap(one)) return one
    const out: JsonMap = {}
    for (const name in one) setMember(out, name, drop(one[name] as Json))
    return out
  }
  return drop(kept)
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMap(value)) return value
  const out: JsonMap = {}
  for (const name in value) {
    const member = value[name] as Json
    if (member !== null) setMember(out, name, withoutNulls(member))
  }
  return out
}
