/**
 * Applies the defaults of a schema to absent fields and to nulls that are not allowed. Compiled
 * once per schema, only for paths that lead to a default. Objects that get a field are copied with
 * sorted keys. A default value is pruned in the same way as the object.
 */
import type { Json } from '#api/object-meta.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import { compareKeys, setKey } from '#schema/user-key.ts'
import { hasDefault, itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.ts'
import { leadsTo } from './leads-to.ts'
import type { Copy } from './prune.ts'
import { sortedCopy } from './sorted-copy.ts'

const leadsToDefault = leadsTo(hasDefault)

/** Applies the defaults to a value and returns it. The value may be changed. */
export type Fill = (value: Json) => Json

interface Field {
  readonly name: string
  readonly nullable: boolean
  /**
   * Returns a new copy of the default. Undefined if pruning would remove it from the surrounding
   * object.
   */
  readonly make: (() => Json | undefined) | undefined
  readonly fill: () => Fill | undefined
}

/** The keys on the path from a whole object to a value in it. */
type Way = readonly (string | typeof item)[]

/** The path segment for list items. */
const item = 0
/** Placeholder for keys that the schema does not name. */
const anyKey = '*'

/** A whole object that contains only the value, at the given path. */
const around = (value: Json, way: Way): Json =>
  way.reduceRight<Json>((inner, step) => (step === item ? [inner] : { [step]: inner }), value)

/** The value at the given path. */
function found(whole: Json, way: Way): Json | undefined {
  let at: Json | undefined = whole
  for (const step of way) {
    if (Array.isArray(at)) at = at[0]
    else at = at !== undefined && isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
  }
  return at
}

export class Defaults {
  readonly #pruned: Copy
  readonly #keepNulls: boolean

  /**
   * `pruned` prunes a whole object, so it can prune a default inside it. `keepNulls` keeps nulls
   * that the schema does not allow.
   */
  constructor(pruned: Copy, keepNulls = false) {
    this.#pruned = pruned
    this.#keepNulls = keepNulls
  }

  /** The defaults for whole objects; undefined if there are none. */
  of(schema: JsonSchema | undefined): Fill | undefined {
    return this.#within(schema, [])
  }

  #within(schema: JsonSchema | undefined, way: Way): Fill | undefined {
    if (schema === undefined || !leadsToDefault(schema)) return undefined
    return this.#compile(schema, way)
  }

  #compile(schema: JsonSchema, way: Way): Fill {
    const fields = propertiesOf(schema)
      .filter(([, one]) => leadsToDefault(one))
      .map(([name, one]) => this.#field(name, one, [...way, name]))
      .sort((a, b) => compareKeys(a.name, b.name))
    const others = this.#fieldOf(valuesOf(schema), [...way, anyKey])
    const items = this.#fieldOf(itemsOf(schema), [...way, item])
    const named = schema.properties ?? {}
    return (value) => {
      if (Array.isArray(value)) {
        if (items !== undefined) {
          for (let i = 0; i < value.length; i++) value[i] = fillOne(items, value[i])
        }
        return value
      }
      if (!isObject(value)) return value
      const filled = fillFields(fields, value)
      if (others !== undefined) {
        for (const key of Object.keys(filled)) {
          if (!Object.hasOwn(named, key)) setKey(filled, key, fillOne(others, filled[key]))
        }
      }
      return filled
    }
  }

  #fieldOf(schema: JsonSchema | undefined, way: Way): Field | undefined {
    if (schema === undefined || !leadsToDefault(schema)) return undefined
    return this.#field('', schema, way)
  }

  #field(name: string, schema: JsonSchema, way: Way): Field {
    let kept: Json | undefined
    let isKept = false
    const make = (): Json | undefined => {
      if (!isKept) kept = found(this.#pruned(around(schema.default as Json, way)), way)
      isKept = true
      return kept === undefined ? undefined : sortedCopy(kept)
    }
    let fill: Fill | undefined | null = null
    return {
      name,
      nullable: this.#keepNulls || schema.nullable === true,
      make: hasDefault(schema) ? make : undefined,
      fill: () => {
        if (fill === null) fill = this.#within(schema, way)
        return fill
      },
    }
  }
}

/**
 * Replaces a null that is not allowed with the default, if any. Otherwise applies the defaults
 * inside the value.
 */
function fillOne(field: Field, given: Json): Json {
  const value = given === null && !field.nullable ? (field.make?.() ?? given) : given
  if (value === null || typeof value !== 'object') return value
  return field.fill()?.(value) ?? value
}

function fillFields(fields: readonly Field[], object: JsonObject): JsonObject {
  let added: [string, Json][] | undefined
  for (const field of fields) {
    const { name } = field
    if (Object.hasOwn(object, name)) setKey(object, name, fillOne(field, object[name]))
    else if (field.make !== undefined) {
      const made = field.make()
      if (made === undefined) continue
      const value =
        made === null || typeof made !== 'object' ? made : (field.fill()?.(made) ?? made)
      added ??= []
      added.push([name, value])
    }
  }
  return added === undefined ? object : merged(object, added)
}

/** Both inputs are sorted, and so is the result. */
function merged(object: JsonObject, added: readonly [string, Json][]): JsonObject {
  const out: JsonObject = {}
  let next = 0
  for (const key of Object.keys(object)) {
    while (next < added.length && compareKeys(added[next][0], key) < 0) {
      setKey(out, added[next][0], added[next][1])
      next++
    }
    setKey(out, key, object[key])
  }
  for (; next < added.length; next++) setKey(out, added[next][0], added[next][1])
  return out
}
