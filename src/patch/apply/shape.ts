/**
 * How field ownership treats a type: as a whole (leaf), member by member (map) or item by item
 * (list). It also makes the path elements of members and items. It changes no values.
 */
import { byCodePoint, goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { isMap, ownValue } from '#patch/json-map.ts'
import type { Field, List, Struct, Type } from '#schema/type.ts'
import { goJson, keyElement } from './path-element.ts'

export const untyped: Type = { is: 'untyped' }

/** A declared type determines the shape; without one, the value does. */
export function shapeOf(type: Type, value: Json | undefined): 'leaf' | 'list' | 'map' {
  switch (type.is) {
    case 'scalar':
      return 'leaf'
    case 'list':
      return type.listType === 'atomic' ? 'leaf' : 'list'
    case 'map':
      return type.atomic ? 'leaf' : 'map'
    case 'struct':
      return type.atomic || type.union === true ? 'leaf' : 'map'
    case 'untyped':
      return isMap(value) ? 'map' : 'leaf'
  }
}

const granularTypes = new WeakMap<Struct, Struct>()

/**
 * The type of a field as an owner sees it. A granular field is owned member by member, even if its
 * type is atomic elsewhere: for example, claimRef of a PersistentVolume.
 */
export function fieldType(field: Field | undefined): Type | undefined {
  if (field?.granular !== true || field.type.is !== 'struct' || !field.type.atomic)
    return field?.type
  let made = granularTypes.get(field.type)
  if (made === undefined) {
    made = { ...field.type, atomic: false }
    granularTypes.set(field.type, made)
  }
  return made
}

/** Undefined if the type does not declare the member. */
export function memberType(type: Type, name: string): Type | undefined {
  switch (type.is) {
    case 'struct':
      return fieldType(type.byName.get(name)) ?? (type.open ? untyped : undefined)
    case 'map':
      return type.values
    case 'untyped':
      return untyped
    default:
      return undefined
  }
}

export const isNamedField = (type: Type, name: string): boolean =>
  type.is === 'struct' && type.byName.has(name)

const sortedKeys = new WeakMap<List, readonly string[]>()

/** The key names of a list in byte order, as in path elements. */
function keyNames(list: List): readonly string[] {
  let names = sortedKeys.get(list)
  if (names === undefined) {
    names = [...list.mapKeys].sort(byCodePoint)
    sortedKeys.set(list, names)
  }
  return names
}

/** An item has no path element. The message is kube-apiserver's; the caller decides what to do. */
export class NoElement extends Error {}

/** What an item of a keyed list may leave out: see rules.ts. The newest release is the default. */
export interface KeyRules {
  readonly defaultsKeys: boolean
  readonly omitsKeys: boolean
}

const newestKeys: KeyRules = { defaultsKeys: true, omitsKeys: true }

/** The path element of an item of a set or of a keyed list, whose keys may have defaults. */
export function itemElement(list: List, item: Json, rules: KeyRules = newestKeys): string {
  return list.listType === 'set' ? setElement(item) : mapElement(list, item, rules)
}

function setElement(item: Json): string {
  if (item === null) {
    throw new NoElement("associative list without keys has an element that's an explicit null")
  }
  if (Array.isArray(item)) {
    throw new NoElement('not supported: associative list with lists as elements')
  }
  if (typeof item === 'object') {
    throw new NoElement("associative list without keys has an element that's a map type")
  }
  return `v:${goJson(item)}`
}

/**
 * For example, an item `{a: 1}` of a list with the keys a and b is `k:{"a":1}`: another item than
 * `{a: 1, b: 2}`.
 */
function mapElement(list: List, item: Json, rules: KeyRules): string {
  if (item === null) {
    throw new NoElement('associative list with keys may not have a null element')
  }
  if (!isMap(item)) {
    throw new NoElement('associative list with keys may not have non-map elements')
  }
  const names: string[] = []
  const values: Json[] = []
  for (const name of keyNames(list)) {
    const valueIfAbsent = () => (rules.defaultsKeys ? keyDefault(list, name) : undefined)
    const value = ownValue(item, name) ?? (Object.hasOwn(item, name) ? null : valueIfAbsent())
    if (value === undefined) {
      if (rules.omitsKeys) continue
      throw withoutKey(name, rules)
    }
    names.push(name)
    values.push(value)
  }
  if (names.length === 0) throw withoutKeys(list)
  return keyElement(names, values)
}

const withoutKey = (name: string, { defaultsKeys }: KeyRules): NoElement => {
  const omits = `associative list with keys has an element that omits key field ${goQuote(name)}`
  return new NoElement(defaultsKeys ? `${omits} (and doesn't have default value)` : omits)
}

const withoutKeys = ({ mapKeys }: List): NoElement =>
  new NoElement(
    `associative list with keys has an element that omits all key fields [${mapKeys.map(goQuote).join(' ')}] (and doesn't have default values for any key fields)`,
  )

/** An absent key has its declared default, or Go's zero value if Go never omits the field. */
function keyDefault(list: List, name: string): Json | undefined {
  const field = list.items.is === 'struct' ? list.items.byName.get(name) : undefined
  if (field === undefined) return undefined
  if (field.default !== undefined) return field.default
  if (field.zeroUndeclared || field.omitEmpty || field.pointer || field.type.is !== 'scalar')
    return undefined
  switch (field.type.scalar) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'float64':
      return 0
    default:
      return undefined
  }
}

/**
 * Whether a value has neither items nor members: an empty list or map, null or a scalar.
 * kube-apiserver does not descend into such a value.
 */
export function isHollow(value: Json): boolean {
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}
