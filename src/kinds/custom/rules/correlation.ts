/**
 * For ratcheting of custom resources. It finds the old value of each part of an updated object, by
 * field name or by the key of a map list. Other lists are not correlated. An unchanged part may
 * break rules of the schema, because the schema can have changed.
 */
import type { Json } from '#api/object-meta.ts'
import { equalValues } from '#patch/json-map.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import {
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  propertyOf,
  valuesOf,
} from '#schema/structural/json-schema.ts'

/** The elements of a map list by their keys. Elements that lack a key are not found. */
export class KeyedElements {
  readonly #keys: readonly string[]
  readonly #elements = new Map<string, Json>()

  constructor(schema: JsonSchema, list: readonly Json[]) {
    this.#keys = listTypeOf(schema) === 'map' && schema.type === 'array' ? mapKeysOf(schema) : []
    for (const element of list) {
      const key = this.#keyOf(element)
      if (key !== undefined && !this.#elements.has(key)) this.#elements.set(key, element)
    }
  }

  #keyOf(element: Json): string | undefined {
    if (this.#keys.length === 0 || !isObject(element)) return undefined
    const values: Json[] = []
    for (const key of this.#keys) {
      const value = Object.hasOwn(element, key) ? element[key] : undefined
      if (value === undefined || value === null || typeof value === 'object') return undefined
      values.push(value)
    }
    return JSON.stringify(values)
  }

  find(element: Json): Json | undefined {
    const key = this.#keyOf(element)
    return key === undefined ? undefined : this.#elements.get(key)
  }
}

/**
 * One part of the new object and the same part of the old object. It caches its children and its
 * comparison, so each part is compared once.
 */
export class Correlation {
  readonly #value: Json | undefined
  readonly #old: Json | undefined
  readonly #schema: JsonSchema
  readonly #children = new Map<string | number, Correlation | undefined>()
  #elements: KeyedElements | undefined
  #same: boolean | undefined

  constructor(value: Json | undefined, old: Json | undefined, schema: JsonSchema) {
    this.#value = value
    this.#old = old
    this.#schema = schema
  }

  /** Whether the part did not change. */
  get isSame(): boolean {
    this.#same ??= this.#compare()
    return this.#same
  }

  /**
   * The correlation of a field or key. Undefined if the old object or the schema does not have it.
   */
  key(name: string): Correlation | undefined {
    if (!this.#children.has(name)) this.#children.set(name, this.#makeKey(name))
    return this.#children.get(name)
  }

  index(at: number): Correlation | undefined {
    if (!this.#children.has(at)) this.#children.set(at, this.#makeIndex(at))
    return this.#children.get(at)
  }

  #makeKey(name: string): Correlation | undefined {
    const [value, old] = [this.#value ?? null, this.#old ?? null]
    if (!isObject(value) || !isObject(old)) return undefined
    if (!Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined
    const schema = propertyOf(this.#schema, name) ?? valuesOf(this.#schema)
    return schema && new Correlation(value[name], old[name], schema)
  }

  #makeIndex(at: number): Correlation | undefined {
    const [value, old] = [this.#value, this.#old]
    if (!Array.isArray(value) || !Array.isArray(old)) return undefined
    this.#elements ??= new KeyedElements(this.#schema, old)
    const found = this.#elements.find(value[at])
    const items = itemsOf(this.#schema)
    if (found === undefined || found === null || items === undefined) return undefined
    return new Correlation(value[at], found, items)
  }

  #compare(): boolean {
    const value = this.#value ?? null
    const old = this.#old ?? null
    if (value === null || old === null) return value === old
    if (Array.isArray(value) && Array.isArray(old)) return this.#compareLists(value, old)
    if (isObject(value) && isObject(old)) return this.#compareObjects(value, old)
    return equalValues(value, old)
  }

  #compareLists(value: readonly Json[], old: readonly Json[]): boolean {
    if (value.length !== old.length) return false
    if (listTypeOf(this.#schema) !== 'map') return equalValues(value as Json, old as Json)
    return value.every((_, at) => this.index(at)?.isSame === true)
  }

  /** A field that the schema does not declare cannot be compared, and counts as changed. */
  #compareObjects(value: JsonObject, old: JsonObject): boolean {
    const names = Object.keys(value)
    return (
      names.length === Object.keys(old).length &&
      names.every((name) => this.key(name)?.isSame === true)
    )
  }
}
