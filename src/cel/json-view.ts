/**
 * JSON without a schema as CEL values, read in place: the objects of admission and the variables of
 * type dyn. A whole number is an int, any other number a double.
 */
import { joinLists } from './collections.ts'
import { CelError, ListValue, MapValue, type Value } from './values.ts'
import { namesOf } from './work.ts'

class JsonList extends ListValue {
  readonly #items: readonly unknown[]
  constructor(items: readonly unknown[]) {
    super()
    this.#items = items
  }
  get size(): number {
    return this.#items.length
  }
  at(index: number): Value {
    return jsonView(this.#items[index])
  }
  concat(other: ListValue): Value {
    return joinLists(this, other)
  }
}

class JsonMap extends MapValue {
  readonly #object: Readonly<Record<string, unknown>>
  constructor(object: Readonly<Record<string, unknown>>) {
    super()
    this.#object = object
  }
  get size(): number {
    return namesOf(this.#object).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#object, key)) return undefined
    const value = this.#object[key]
    return value === undefined ? undefined : jsonView(value)
  }
  keys(): Iterable<Value> {
    return namesOf(this.#object)
  }
}

export function jsonView(json: unknown): Value {
  switch (typeof json) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return json
    case 'number':
      return Number.isSafeInteger(json) ? BigInt(json) : json
  }
  if (json === null || json === undefined) return null
  if (Array.isArray(json)) return new JsonList(json)
  if (typeof json === 'object') return new JsonMap(json as Readonly<Record<string, unknown>>)
  return new CelError(`unsupported conversion to ref.Val: (${typeof json})`)
}
