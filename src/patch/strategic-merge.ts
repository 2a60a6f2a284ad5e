/**
 * Strategic merge patch: the type determines which lists are merged by a key. A patch may contain
 * directives: `$patch: replace` and `delete` in a map or an item, and `$retainKeys`.
 * `$setElementOrder/name` and `$deleteFromPrimitiveList/name` refer to a list in the same map.
 * Arguments are not changed.
 */
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { invalid } from '#api/field-error.ts'
import type { Json } from '#api/object-meta.ts'
import { blamesPatches } from '#api/release-words.ts'
import { ApiError, badRequest, invalidObject } from '#api/status-error.ts'
import type { Type } from '#schema/type.ts'
import { goText, goType, goValue } from './go-value.ts'
import { copyValue, isMap, type JsonMap, ownValue, setMember } from './json-map.ts'
import { type MergeMaps, mergeItems, orderItems } from './strategic-list.ts'
import { listRule, mapRule, StrategicError, wrongType } from './strategic-rule.ts'
import { restore, RestoreError } from './restore.ts'

const directive = '$patch'
const retainKeys = '$retainKeys'
const elementOrder = '$setElementOrder'
const deleteFromList = '$deleteFromPrimitiveList'

/**
 * The patched object with the members that its type declares; `lost` is called with the object
 * before and after others are dropped. Throws ApiError.
 */
export function applyStrategicMerge(
  type: Type,
  document: Json,
  patch: Json,
  release: number,
  lost?: (whole: Json, kept: Json) => void,
): Json {
  if (patch !== null && !isMap(patch)) {
    const kind = goType(patch) === '[]interface {}' ? 'array' : goType(patch)
    const stated = kind === 'int64' || kind === 'float64' ? 'number' : kind
    throw badRequest(
      `json: cannot unmarshal ${stated} into Go value of type map[string]interface {}`,
    )
  }
  const original = copyValue(document) as JsonMap
  const change = copyValue(patch ?? {}) as JsonMap
  try {
    const whole = mergeMap(original, change, type, releaseOf(release))
    const kept = restore(type, whole) as JsonMap
    lost?.(whole, kept)
    return withHeaderOf(document as JsonMap, kept)
  } catch (error) {
    throw answerTo(error, change, release)
  }
}

/** Ignores kind and apiVersion in the patch: the object keeps its own. */
function withHeaderOf({ apiVersion, kind }: JsonMap, object: JsonMap): JsonMap {
  if (apiVersion === undefined || kind === undefined) return object
  return { ...object, apiVersion, kind }
}

function answerTo(error: unknown, patch: JsonMap, release: number): unknown {
  if (error instanceof RestoreError) {
    if (!releaseOf(release).has(blamesPatches)) return new ApiError(500, '', error.message)
    return invalidObject({ group: '', kind: '' }, '', [
      invalid('patch', goValue(patch), error.message),
    ])
  }
  if (!(error instanceof StrategicError)) return error
  switch (error.status) {
    case 400:
      return badRequest(error.message)
    case 422: {
      const stated = 'the server rejected our request due to an error in our request'
      const answer = new ApiError(422, 'Invalid', stated, {})
      answer.cause = error
      return answer
    }
    default:
      return new ApiError(500, '', error.message)
  }
}

/**
 * Modifies and returns `original`, or returns a replacement. Removes directives from `patch` after
 * applying them.
 */
function mergeMap(original: JsonMap, patch: JsonMap, type: Type, release: Release): JsonMap {
  const order = ownValue(patch, directive)
  if (order !== undefined) return replaceOrDelete(order, patch)
  retainOnly(original, patch)
  mergeOrdered(original, patch, type, release)
  for (const name of Object.keys(patch))
    mergeMember(original, name, patch[name] as Json, type, release)
  return original
}

function replaceOrDelete(order: Json, patch: JsonMap): JsonMap {
  if (order === 'replace') {
    delete patch[directive]
    return patch
  }
  if (order === 'delete') return {}
  throw unknownDirective(order, patch)
}

function unknownDirective(order: Json, patch: JsonMap): StrategicError {
  return new StrategicError(`unknown patch type: ${goText(order)} in map: ${goValue(patch)}`)
}

/** `$retainKeys` lists all members to keep, so it must include those of the patch. */
function retainOnly(original: JsonMap, patch: JsonMap): void {
  const names = ownValue(patch, retainKeys)
  if (names === undefined) return
  delete patch[retainKeys]
  const wrong = () => new StrategicError('invalid patch format of retainKeys', 400)
  if (!Array.isArray(names)) throw wrong()
  const kept = new Set<Json>(names)
  for (const name in patch) {
    if (patch[name] === null || name.startsWith(deleteFromList) || name.startsWith(elementOrder))
      continue
    if (!kept.has(name)) throw wrong()
  }
  for (const name of Object.keys(original)) if (!kept.has(name)) delete original[name]
}

/** Merges the lists with $setElementOrder, including the patch's items for them. */
function mergeOrdered(original: JsonMap, patch: JsonMap, type: Type, release: Release): void {
  for (const marker of Object.keys(patch)) {
    if (!marker.startsWith(elementOrder)) continue
    const order = patch[marker] as Json
    delete patch[marker]
    if (!Array.isArray(order)) throw wrongType('[]interface {}', order)
    const name = nameAfter(marker, elementOrder, 'invalid patch format of setElementOrder list')
    const before = listAt(original, name)
    const change = listAt(patch, name)
    const rule = listRule(type, name)
    const added = before === undefined && change !== undefined
    const items = added && release.has(dropsDirectives) ? withoutDirectives(change) : change
    const merged = orderItems(before, items, order, rule, merging(release))
    if (merged === undefined) continue
    setMember(original, name, merged)
    delete patch[name]
  }
}

function listAt(map: JsonMap, name: string): Json[] | undefined {
  const list = ownValue(map, name)
  if (list === undefined || Array.isArray(list)) return list
  throw wrongType('[]interface {}', list)
}

function nameAfter(marker: string, prefix: string, problem: string): string {
  const slash = marker.indexOf('/')
  if (slash < 0 || marker.slice(0, slash) !== prefix) throw new StrategicError(problem, 400)
  return marker.slice(slash + 1)
}

function mergeMember(
  original: JsonMap,
  member: string,
  value: Json,
  type: Type,
  release: Release,
): void {
  const deletes = member.startsWith(deleteFromList)
  let name = member
  if (deletes) {
    const stated = nameAfter(member, deleteFromList, 'invalid patch format of primitive list')
    if (stated !== '') name = stated
  }
  if (value === null) {
    delete original[name]
    return
  }
  const before = ownValue(original, name)
  if (before === undefined || before === null || goType(before) !== goType(value)) {
    if (!deletes || !release.has(deletesFromNothing)) addMember(original, name, value, release)
    return
  }
  if (isMap(before)) {
    const rule = mapRule(type, name)
    const change = value as JsonMap
    const replaces = rule.strategy === 'replace'
    setMember(original, name, replaces ? change : mergeMap(before, change, rule.type, release))
  } else if (Array.isArray(before)) {
    const rule = listRule(type, name)
    const merges = rule.strategy === 'merge' || (deletes && release.has(deletesFromAnyList))
    const change = value as Json[]
    const items = merges ? mergeItems(before, change, rule, deletes, merging(release)) : change
    setMember(original, name, items)
  } else setMember(original, name, value)
}

const merging =
  (release: Release): MergeMaps =>
  (original, patch, type) =>
    mergeMap(original, patch, type, release)

const deletesFromNothing = change(
  'a strategic merge patch that deletes items of an absent list adds no list',
  { since: 23 },
)
const dropsNulls = change('a strategic merge patch drops the nulls inside a value that it adds', {
  since: 24,
})
const dropsDirectives = change(
  'a strategic merge patch drops the directives inside a value that it adds',
  { since: 28 },
)
const deletesFromAnyList = change(
  'a strategic merge patch can delete items of a list that it otherwise replaces',
  { since: 28 },
)

/** Adds a value to which the live object has no counterpart of the same type. */
function addMember(original: JsonMap, name: string, value: Json, release: Release): void {
  if (release.has(dropsNulls)) dropNulls(value)
  const kept = release.has(dropsDirectives) ? withoutDirectives(value) : value
  if (kept === undefined) delete original[name]
  else setMember(original, name, kept)
}

/** As in kube-apiserver, the patch itself changes, so an error message shows the rest of it. */
function dropNulls(value: Json): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item)
  else if (isMap(value))
    for (const name of Object.keys(value)) {
      if (value[name] === null) delete value[name]
      else dropNulls(value[name] as Json)
    }
}

/** The value without maps that have a directive; undefined if it is such a map. */
function withoutDirectives<Value extends Json>(value: Value): Value | undefined
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value))
    return value.flatMap((item) => {
      const kept = withoutDirectives(item)
      return kept === undefined ? [] : [kept]
    })
  if (!isMap(value)) return value
  if (ownValue(value, directive) !== undefined) return undefined
  for (const name of Object.keys(value)) {
    const kept = withoutDirectives(value[name] as Json)
    if (kept === undefined) delete value[name]
    else setMember(value, name, kept)
  }
  return value
}
