/**
 * JSON of a built-in kind as kube-apiserver shows it to policies since 1.37: as Go values. They
 * look like JSON, but structs compare semantically, only texts are keys and only ints are indices.
 *
 *     object.spec.template == oldObject.spec.template    memory 1024 equals 1Ki
 *     1 in object.data                                   unsupported map key type: types.Int
 */
import { compareQuantities } from '#api/quantity.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { Dict, Field, List, Scalar, Struct, Type } from '#schema/type.ts'
import { joinLists } from './collections.ts'
import { equal, type OwnEquality } from './equality.ts'
import { jsonView } from './json-view.ts'
import { CelError, goTypeName, ListValue, MapValue, overloadError, type Value } from './values.ts'
import { elementWork, namesOf, work } from './work.ts'

type Json = Readonly<Record<string, unknown>>

/** The value of JSON of a type. What has no type in Go is JSON for expressions too. */
export function typedView(json: unknown, type: Type): Value {
  if (type.is === 'scalar') return scalarView(json, type)
  if (typeof json !== 'object' || json === null) return jsonView(json)
  if (Array.isArray(json)) return type.is === 'list' ? new GoList(json, type) : jsonView(json)
  if (type.is === 'map') return new GoMap(json as Json, type)
  if (type.is === 'struct' && !type.union && !type.open) return new GoStruct(json as Json, type)
  return jsonView(json)
}

const scalarView = (json: unknown, { scalar }: Scalar): Value =>
  scalar === 'float64' && typeof json === 'number' ? json : jsonView(json)

const wrongKey = (key: Value): CelError =>
  key instanceof CelError ? key : new CelError(`unsupported map key type: ${goTypeName(key)}`)

/** A value of Go that protobuf cannot convert, so that no JSON patch can contain it. */
export interface GoValue {
  /** Why it cannot be converted. */
  readonly conversionProblem: string
}

export const isGoValue = (value: Value): value is Value & GoValue =>
  typeof value === 'object' && value !== null && 'conversionProblem' in value

class GoList extends ListValue implements OwnEquality, GoValue {
  readonly conversionProblem = "type conversion error from 'list(dyn)' to '*structpb.Value'"
  readonly #items: readonly unknown[]
  readonly #type: List
  constructor(items: readonly unknown[], type: List) {
    super()
    this.#items = items
    this.#type = type
  }
  get size(): number {
    return this.#items.length
  }
  at(index: number): Value {
    return typedView(this.#items[index], this.#type.items)
  }
  override indexProblem(key: Value): CelError | undefined {
    if (typeof key === 'bigint') return undefined
    return new CelError(`unsupported index type: ${goTypeName(key)}`)
  }
  concat(other: ListValue): Value {
    return joinLists(this, other)
  }
  equalsOwn(other: Value): boolean | CelError {
    if (!(other instanceof ListValue)) return overloadError(other)
    if (other.size !== this.size) return false
    work(elementWork * this.size)
    for (let index = 0; index < this.size; index += 1)
      if (equal(this.at(index), other.at(index)) !== true) return false
    return true
  }
  override containsOwn(value: Value): boolean {
    for (const element of this) if (equal(element, value) === true) return true
    return false
  }
}

class GoMap extends MapValue implements OwnEquality, GoValue {
  readonly conversionProblem = "type conversion error from 'map(dyn, dyn)' to '*structpb.Value'"
  readonly #json: Json
  readonly #type: Dict
  constructor(json: Json, type: Dict) {
    super()
    this.#json = json
    this.#type = type
  }
  get size(): number {
    return namesOf(this.#json).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return wrongKey(key)
    if (!Object.hasOwn(this.#json, key)) return undefined
    return typedView(this.#json[key], this.#type.values)
  }
  keys(): Iterable<Value> {
    return namesOf(this.#json)
  }
  equalsOwn(other: Value): boolean | CelError {
    if (!(other instanceof MapValue)) return overloadError(other)
    if (other.size !== this.size) return false
    work(elementWork * this.size)
    for (const name of namesOf(this.#json)) {
      const theirs = other.find(name)
      if (theirs === undefined || equal(this.find(name) as Value, theirs) !== true) return false
    }
    return true
  }
}

class GoStruct extends MapValue implements OwnEquality, GoValue {
  readonly #json: Json
  readonly #type: Struct
  constructor(json: Json, type: Struct) {
    super()
    this.#json = json
    this.#type = type
  }
  get conversionProblem(): string {
    const name = this.#type.name.split('.').slice(-2).join('.')
    return `type conversion error from struct type ${name} to *structpb.Value`
  }
  get size(): number {
    return namesOf(this.#json).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return wrongKey(key)
    if (!Object.hasOwn(this.#json, key)) return undefined
    const value = this.#json[key]
    const field = this.#type.byName.get(key)
    if (value === undefined) return undefined
    return field === undefined ? jsonView(value) : typedView(value, field.type)
  }
  keys(): Iterable<Value> {
    return namesOf(this.#json)
  }
  equalsOwn(other: Value): boolean | CelError {
    if (!(other instanceof MapValue)) return overloadError(other)
    if (other instanceof GoStruct)
      return this.#type.name === other.#type.name && sameStruct(this.#json, other.#json, this.#type)
    if (other.size !== this.size) return false
    for (const name of namesOf(this.#json)) {
      const theirs = other.find(name)
      if (theirs === undefined) return false
      const same = equal(this.find(name) as Value, theirs)
      if (same !== true) return same
    }
    return true
  }
}

/** Semantic equality: equal quantities have different texts, and empty equals absent. */
function sameTyped(a: unknown, b: unknown, type: Type): boolean {
  if (a === b) return true
  switch (type.is) {
    case 'scalar':
      return sameScalar(a, b, type)
    case 'list':
      return sameList(listOf(a), listOf(b), type)
    case 'map':
      return sameMap(objectOf(a), objectOf(b), type)
    case 'struct':
      return type.union ? semanticEqual(a, b) : sameStruct(objectOf(a), objectOf(b), type)
  }
  return semanticEqual(a, b)
}

const listOf = (json: unknown): readonly unknown[] => (Array.isArray(json) ? json : [])
const objectOf = (json: unknown): Json =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Json) : {}

const isZero = (json: unknown): boolean =>
  json === undefined || json === null || json === '' || json === 0 || json === false

function sameScalar(a: unknown, b: unknown, { scalar }: Scalar): boolean {
  if (isZero(a) && isZero(b)) return true
  if (scalar !== 'quantity') return semanticEqual(a, b)
  const [left, right] = [isZero(a) ? '0' : String(a), isZero(b) ? '0' : String(b)]
  return compareQuantities(left, right) === 0
}

function sameList(a: readonly unknown[], b: readonly unknown[], { items }: List): boolean {
  if (a.length !== b.length) return false
  work(elementWork * a.length)
  return a.every((one, at) => sameTyped(one, b[at], items))
}

function sameMap(a: Json, b: Json, { values }: Dict): boolean {
  const names = namesOf(a)
  if (names.length !== namesOf(b).length) return false
  work(elementWork * names.length)
  return names.every((name) => Object.hasOwn(b, name) && sameTyped(a[name], b[name], values))
}

function sameStruct(a: Json, b: Json, { byName }: Struct): boolean {
  const names = new Set([...namesOf(a), ...namesOf(b)])
  work(elementWork * names.size)
  for (const name of names) {
    const [left, right] = [a, b].map((one) => (Object.hasOwn(one, name) ? one[name] : undefined))
    const field = byName.get(name)
    if (field === undefined ? !semanticEqual(left, right) : !sameField(left, right, field))
      return false
  }
  return true
}

/** A pointer to an empty value differs from none. */
function sameField(a: unknown, b: unknown, { pointer, type }: Field): boolean {
  const isPointer = pointer && type.is !== 'list' && type.is !== 'map'
  if (isPointer && (a ?? null) !== (b ?? null) && ((a ?? null) === null || (b ?? null) === null))
    return false
  return sameTyped(a, b, type)
}
