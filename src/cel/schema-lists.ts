/**
 * Lists of a structural schema as CEL values. Lists of type set and map compare without regard to
 * order, also after `+`. Their elements are found by an identity:
 *
 *     set    ['a', 'b'] + ['b', 'c']                    ['a', 'b', 'c']
 *     map    [{k: a, v: 1}] + [{k: a, v: 2}, {k: b}]    [{k: a, v: 2}, {k: b}]
 */
import { ArrayList, joinLists } from './collections.ts'
import { equal, type OwnEquality } from './equality.ts'
import { showValue } from './show-value.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  overloadError,
  Timestamp,
  type Value,
} from './values.ts'
import { elementWork, work } from './work.ts'

/** How the lists of a release behave. */
export interface ListRules {
  /**
   * Since 1.37 kube-apiserver compares the elements of a set as values, and counts duplicates. Its
   * `+` finds the keys of a list of type map by their escaped names.
   */
  readonly comparesValues: boolean
}

/** A map that is a view of JSON. */
export abstract class JsonMapView extends MapValue {
  abstract readonly json: Readonly<Record<string, unknown>>
}

/** A list of type atomic. Errors of its elements are errors of a comparison. */
export class SchemaList extends ListValue implements OwnEquality {
  readonly items: readonly unknown[]
  readonly view: (item: unknown) => Value
  constructor(items: readonly unknown[], view: (item: unknown) => Value) {
    super()
    this.items = items
    this.view = view
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    return this.view(this.items[index])
  }
  override indexProblem(key: Value): CelError | undefined {
    return typeof key === 'bigint'
      ? undefined
      : new CelError(`unsupported index: ${showValue(key)}`)
  }
  concat(other: ListValue): Value {
    return joinLists(this, other)
  }
  equalsOwn(other: Value): boolean | CelError {
    if (!(other instanceof ListValue)) return overloadError(other)
    if (other.size !== this.size) return false
    work(elementWork * this.size)
    for (let index = 0; index < this.size; index += 1) {
      const same = equal(this.at(index), other.at(index))
      if (same !== true) return same
    }
    return true
  }
  override containsOwn(value: Value): boolean | CelError {
    let problem: CelError | undefined
    for (const element of this) {
      const same = equal(element, value)
      if (same === true) return true
      if (same instanceof CelError) problem ??= same
    }
    return problem ?? false
  }
}

const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `int ${part}` : part)) ?? 'null'

/** Equal for equal scalars of one type. Times with different offsets differ. */
function scalarIdentity(value: Value): string {
  if (typeof value === 'bigint') return `int ${value}`
  if (value instanceof Timestamp)
    return `time ${value.seconds} ${value.nanos} ${value.offsetSeconds}`
  if (value instanceof Duration) return `duration ${value.nanos}`
  return typeof value === 'object' && value !== null ? `other ${String(value)}` : jsonText(value)
}

/** Undefined if the element has no identity, so that it equals no other one. */
type Identify = (element: Value) => string | undefined | CelError

const noScalar = new CelError('listSet operations are only supported on lists of scalar values')

function setIdentity(element: Value): string | CelError {
  if (element instanceof CelError) return element
  if (element instanceof ListValue || element instanceof MapValue) return noScalar
  return scalarIdentity(element)
}

/** Times, durations and bytes are no JSON, which 1.36 searches for them. */
function jsonIdentity(element: Value): string | undefined | CelError {
  if (element instanceof CelError) return element
  return typeof element === 'object' && element !== null ? undefined : scalarIdentity(element)
}

/** The values of the keys, which have the escaped names of fields. */
function keyIdentity(keys: readonly string[]): Identify {
  return (element) => {
    const fields = keys.map((key) => {
      const value = element instanceof MapValue ? element.find(key) : undefined
      return value === undefined || value instanceof CelError ? '' : scalarIdentity(value)
    })
    return jsonText(fields)
  }
}

/**
 * The same for elements that are JSON. kube-apiserver searches JSON for the escaped names, so that
 * all elements have the same identity where the key is called `namespace`.
 */
function jsonKeyIdentity(keys: readonly string[]): Identify {
  return (element) =>
    element instanceof JsonMapView
      ? jsonText(keys.map((key) => (Object.hasOwn(element.json, key) ? element.json[key] : null)))
      : undefined
}

/** The identities of the elements with one element of each. */
function identified(list: ListValue, identify: Identify): Map<string, Value> | CelError {
  const found = new Map<string, Value>()
  work(elementWork * list.size)
  for (const element of list) {
    const key = identify(element)
    if (key instanceof CelError) return key
    if (key !== undefined) found.set(key, element)
  }
  return found
}

/** Whether both have the same elements. `own`: compares elements with the same identity. */
function haveSameElements(
  list: ListValue,
  other: Value,
  { identify, comparesDuplicates, comparesElements }: Comparison,
): boolean | CelError {
  if (!(other instanceof ListValue)) return overloadError(other)
  if (other.size !== list.size) return false
  const mine = identified(list, identify)
  if (mine instanceof CelError) return mine
  const seen = new Set<string>()
  work(elementWork * other.size)
  for (const element of other) {
    const key = identify(element)
    if (key instanceof CelError) return key
    const own = key === undefined ? undefined : mine.get(key)
    if (key === undefined || own === undefined) return false
    const same = comparesElements ? equal(own, element) : true
    if (same !== true) return same
    seen.add(key)
  }
  return !comparesDuplicates || seen.size === mine.size
}

interface Comparison {
  readonly identify: Identify
  readonly comparesDuplicates: boolean
  readonly comparesElements: boolean
}

/** What `+` made of a list of type set or map. It is such a list again. */
class ReferenceList extends ArrayList implements OwnEquality {
  readonly #comparison: Comparison
  constructor(elements: readonly Value[], comparison: Comparison) {
    super(elements)
    this.#comparison = comparison
  }
  equalsOwn(other: Value): boolean | CelError {
    return haveSameElements(this, other, this.#comparison)
  }
  override concat(other: ListValue): Value {
    return joinByIdentity(this, other, this.#comparison)
  }
}

/** Elements of the second list replace those with the same identity; others are appended. */
function joinByIdentity(list: ListValue, other: ListValue, comparison: Comparison): Value {
  const { identify, comparesElements } = comparison
  work(elementWork * (list.size + other.size))
  const elements: Value[] = [...list]
  const places = new Map<string, number>()
  for (const [at, element] of elements.entries()) {
    const key = identify(element)
    if (key instanceof CelError) return key
    if (key !== undefined) places.set(key, at)
  }
  for (const element of other) {
    const key = identify(element)
    if (key instanceof CelError) return key
    const place = key === undefined ? undefined : places.get(key)
    if (place === undefined) {
      if (key !== undefined && !comparesElements) places.set(key, elements.length)
      elements.push(element)
    } else if (comparesElements) elements[place] = element
  }
  return new ReferenceList(elements, comparison)
}

/** A list of type set: equal to a list with the same elements, and `+` adds only new ones. */
export class SetList extends SchemaList {
  readonly #comparison: Comparison
  constructor(
    items: readonly unknown[],
    view: (item: unknown) => Value,
    { comparesValues }: ListRules,
  ) {
    super(items, view)
    this.#comparison = {
      identify: comparesValues ? setIdentity : jsonIdentity,
      comparesDuplicates: comparesValues,
      comparesElements: false,
    }
  }
  override equalsOwn(other: Value): boolean | CelError {
    return haveSameElements(this, other, this.#comparison)
  }
  override concat(other: ListValue): Value {
    return joinByIdentity(this, other, this.#comparison)
  }
}

/** A list of type map: equal by keys, and `+` replaces elements with the same keys. */
export class KeyedList extends SchemaList {
  readonly #keys: readonly string[]
  readonly #rules: ListRules
  /** `keys`: the escaped names of the key fields. */
  constructor(
    items: readonly unknown[],
    view: (item: unknown) => Value,
    keys: readonly string[],
    rules: ListRules,
  ) {
    super(items, view)
    this.#keys = keys
    this.#rules = rules
  }
  #comparison(identify: Identify): Comparison {
    const { comparesValues } = this.#rules
    return { identify, comparesDuplicates: comparesValues, comparesElements: true }
  }
  override equalsOwn(other: Value): boolean | CelError {
    return haveSameElements(this, other, this.#comparison(jsonKeyIdentity(this.#keys)))
  }
  override concat(other: ListValue): Value {
    const identify = this.#rules.comparesValues ? keyIdentity : jsonKeyIdentity
    return joinByIdentity(this, other, this.#comparison(identify(this.#keys)))
  }
}
