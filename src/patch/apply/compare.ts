/**
 * Compares two objects of one type. The result is three disjoint field sets: added, modified and
 * removed. The order of items in keyed lists and sets is ignored.
 */
import type { Json } from '#api/object-meta.ts'
import { parseTimestamp } from '#api/timestamp.ts'
import { holdsWrittenEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import { textsWritten } from '#api/written-text.ts'
import { equalValues, isMap, type JsonMap, ownValue } from '#patch/json-map.ts'
import type { List, Type } from '#schema/type.ts'
import {
  emptySet,
  type FieldSet,
  isEmptySet,
  leaf,
  levelOf,
  recursiveDifference,
} from './field-set.ts'
import { valueElement } from './path-element.ts'
import { isHollow, itemElement, memberType, shapeOf, untyped } from './shape.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** The differences at or below one value; empty sets are absent. */
interface Found {
  added?: FieldSet
  modified?: FieldSet
  removed?: FieldSet
}
type Steps = [string, FieldSet][]

/** Both objects must be valid for the type. */
export function compareObjects(type: Type, before: Json, after: Json): Comparison {
  const found = compareValue(type, before, after)
  return {
    added: found?.added ?? emptySet,
    modified: found?.modified ?? emptySet,
    removed: found?.removed ?? emptySet,
  }
}

export const isSame = ({ added, modified, removed }: Comparison): boolean =>
  isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed)

/** Removes the fields that a write resets from the comparison. */
export function excludeFields(comparison: Comparison, fields: FieldSet | undefined): Comparison {
  if (fields === undefined || isEmptySet(fields)) return comparison
  return {
    added: recursiveDifference(comparison.added, fields),
    modified: recursiveDifference(comparison.modified, fields),
    removed: recursiveDifference(comparison.removed, fields),
  }
}

function compareValue(type: Type, before: Json, after: Json): Found | undefined {
  if (before === after) return undefined
  if (type.is === 'untyped' && isMap(before) !== isMap(after)) return compareUnlike(before, after)
  const shape = shapeOf(type, before)
  if (shape === 'leaf') {
    return equalValues(before, after) && !isListOfOwn(after) ? undefined : { modified: leaf }
  }
  if (shape === 'list') {
    const old = listOf(before)
    const now = listOf(after)
    if (old.length + now.length > 0) return compareItems(type as List, old, now)
  } else {
    const found = compareMembers(type, mapOf(before), mapOf(after))
    if (found !== undefined || (isMap(before) && isMap(after))) return found
    if (!isHollow(before) || !isHollow(after)) return undefined
  }
  return equalValues(before, after) ? undefined : { modified: leaf }
}

/** The member as written: empty if it was written empty, though its canonical form is null. */
function asWritten(type: Type, holder: JsonMap, name: string): Json | undefined {
  const value = ownValue(holder, name)
  if (value !== null || !wasWrittenEmpty(holder, name)) return value
  return type.is === 'list' ? [] : {}
}

/**
 * Go compares atomic lists by their typed values, so a list differs if an item has another text.
 * Examples are empty members, `1000m` instead of `1`, and times with a fraction.
 */
function isListOfOwn(value: Json, inList = false): boolean {
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some((item) => isListOfOwn(item, true))
  if (inList && (holdsWrittenEmpty(value) || holdsOtherText(value))) return true
  for (const name in value) if (isListOfOwn(value[name] as Json, inList)) return true
  return false
}

/** A time in another time zone is equal. */
function holdsOtherText(holder: object): boolean {
  for (const text of textsWritten(holder)) if (parseTimestamp(text)?.nanos !== 0) return true
  return false
}

const listOf = (value: Json): Json[] => (Array.isArray(value) ? value : [])
const mapOf = (value: Json): JsonMap => (isMap(value) ? value : {})

/** Compares a map with another value where the type allows both. */
function compareUnlike(before: Json, after: Json): Found {
  const found = compareMembers(untyped, mapOf(before), mapOf(after)) ?? {}
  const nothingToSay =
    (before === null && !isHollow(after)) || (after === null && !isHollow(before))
  return nothingToSay ? found : { ...found, modified: leaf }
}

function compareMembers(type: Type, before: JsonMap, after: JsonMap): Found | undefined {
  const added: Steps = []
  const modified: Steps = []
  const removed: Steps = []
  for (const name of Object.keys(before)) {
    const old = before[name] as Json
    // Most members are identical. A null may have been written empty, so it must be compared.
    if (old !== null && old === ownValue(after, name)) continue
    const member = memberType(type, name) ?? untyped
    const now = asWritten(member, after, name)
    if (now === old) continue
    if (now === undefined) removed.push([`f:${name}`, everyPath(member, old)])
    else collect(`f:${name}`, compareValue(member, old, now), added, modified, removed)
  }
  for (const name of Object.keys(after)) {
    if (Object.hasOwn(before, name)) continue
    added.push([`f:${name}`, everyPath(memberType(type, name) ?? untyped, after[name] as Json)])
  }
  return foundIn(added, modified, removed)
}

function compareItems(list: List, before: Json[], after: Json[]): Found | undefined {
  const old = new Map(before.map((item) => [itemElement(list, item), item]))
  const now = new Map(after.map((item) => [itemElement(list, item), item]))
  if (old.size < before.length || now.size < after.length)
    return compareDuplicates(list, before, after)
  const added: Steps = []
  const modified: Steps = []
  const removed: Steps = []
  for (const [element, item] of now) {
    const was = old.get(element)
    if (was === undefined) added.push([element, everyPath(list.items, item)])
    else collect(element, compareValue(list.items, was, item), added, modified, removed)
  }
  for (const [element, item] of old)
    if (!now.has(element)) removed.push([element, everyPath(list.items, item)])
  return foundIn(added, modified, removed)
}

/** The same comparison for lists with duplicate keys. */
function compareDuplicates(list: List, before: Json[], after: Json[]): Found | undefined {
  const added: Steps = []
  const modified: Steps = []
  const removed: Steps = []
  const old = byElement(list, before)
  const now = byElement(list, after)
  for (const element of new Set([...now.keys(), ...old.keys()])) {
    const found = compareItem(list, old.get(element) ?? [], now.get(element) ?? [])
    collect(element, found, added, modified, removed)
  }
  return foundIn(added, modified, removed)
}

/** The items by path element; several if they have the same key. */
function byElement(list: List, items: readonly Json[]): Map<string, Json[]> {
  const found = new Map<string, Json[]>()
  for (const item of items) {
    const element = itemElement(list, item)
    const same = found.get(element)
    if (same === undefined) found.set(element, [item])
    else same.push(item)
  }
  return found
}

/** Items with the same key are compared as one leaf. */
function compareItem({ items }: List, old: Json[], now: Json[]): Found | undefined {
  const [was] = old
  const [is] = now
  if (old.length <= 1 && now.length <= 1) {
    if (was === undefined) return { added: everyPath(items, is as Json) }
    return is === undefined ? { removed: everyPath(items, was) } : compareValue(items, was, is)
  }
  if (old.length > 1 && now.length > 1)
    return equalValues(old, now) ? undefined : { modified: leaf }
  if (old.length > 1)
    return { removed: leaf, ...(is !== undefined && { added: everyPath(items, is) }) }
  return { added: leaf, ...(was !== undefined && { removed: everyPath(items, was) }) }
}

function collect(
  step: string,
  found: Found | undefined,
  added: Steps,
  modified: Steps,
  removed: Steps,
) {
  if (found === undefined) return
  if (found.added !== undefined) added.push([step, found.added])
  if (found.modified !== undefined) modified.push([step, found.modified])
  if (found.removed !== undefined) removed.push([step, found.removed])
}

function foundIn(added: Steps, modified: Steps, removed: Steps): Found | undefined {
  if (added.length + modified.length + removed.length === 0) return undefined
  const found: Found = {}
  if (added.length > 0) found.added = levelOf(added, false)
  if (modified.length > 0) found.modified = levelOf(modified, false)
  if (removed.length > 0) found.removed = levelOf(removed, false)
  return found
}

/** The paths of a value that exists only on one side, and of everything below it. */
function everyPath(type: Type, value: Json): FieldSet {
  const shape = shapeOf(type, value)
  if (shape === 'leaf') return leaf
  const steps: Steps = []
  if (shape === 'list') {
    const list = type as List
    const isSet = list.listType === 'set'
    const paths = new Map<string, FieldSet>()
    for (const item of listOf(value)) {
      const element = isSet ? valueElement(item) : itemElement(list, item)
      const isLeaf = isSet || paths.has(element)
      paths.set(element, isLeaf ? leaf : everyPath(list.items, item))
    }
    for (const step of paths) steps.push(step)
  } else {
    const map = mapOf(value)
    for (const name of Object.keys(map)) {
      steps.push([`f:${name}`, everyPath(memberType(type, name) ?? untyped, map[name] as Json)])
    }
  }
  return levelOf(steps, true)
}
