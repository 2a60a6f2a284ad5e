/**
 * The defaults of a schema, filled in where a value has nothing, or a null that is not allowed. Compiled once per schema
 * and only along the ways that lead to a default. Objects that get a field are made anew, keys in order.
 */
import type { Json } from '#api/object-meta.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import { compareKeys, setKey } from '#schema/user-key.ts'
import { hasDefault, itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.ts'
import { leadsTo } from './leads-to.ts'
import type { Copy } from './prune.ts'
import { sortedCopy } from './sorted-copy.ts'

const leadsToDefault = leadsTo(hasDefault)

/** Answers the value with its defaults: the same value where nothing was missing. It may be changed. */
export type Fill = (value: Json) => Json

interface Field {
  readonly name: string
  readonly nullable: boolean
  /** A fresh default each time. */
  readonly make: (() => Json) | undefined
  readonly fill: () => Fill | undefined
}

export class Defaults {
  readonly #pruned: (schema: JsonSchema) => Copy
  readonly #keepNulls: boolean
  readonly #fills = new Map<JsonSchema, Fill | undefined>()

  /** `pruned`: what a schema keeps of its own default. `keepNulls`: nulls stay, allowed or not. */
  constructor(pruned: (schema: JsonSchema) => Copy, keepNulls = false) {
    this.#pruned = pruned
    this.#keepNulls = keepNulls
  }

  /** Undefined: there is no default to be met. */
  of(schema: JsonSchema | undefined): Fill | undefined {
    if (schema === undefined) return undefined
    if (!this.#fills.has(schema)) {
      this.#fills.set(schema, leadsToDefault(schema) ? this.#compile(schema) : undefined)
    }
    return this.#fills.get(schema)
  }

  #compile(schema: JsonSchema): Fill {
    const fields = propertiesOf(schema)
      .filter(([, one]) => leadsToDefault(one))
      .map(([name, one]) => this.#field(name, one))
      .sort((a, b) => compareKeys(a.name, b.name))
    const others = this.#fieldOf(valuesOf(schema))
    const items = this.#fieldOf(itemsOf(schema))
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

  #fieldOf(schema: JsonSchema | undefined): Field | undefined {
    if (schema === undefined || !leadsToDefault(schema)) return undefined
    return this.#field('', schema)
  }

  #field(name: string, schema: JsonSchema): Field {
    let kept: Json | undefined
    const make = (): Json => {
      kept ??= this.#pruned(schema)(schema.default as Json)
      return sortedCopy(kept)
    }
    let fill: Fill | undefined | null = null
    return {
      name,
      nullable: this.#keepNulls || schema.nullable === true,
      make: hasDefault(schema) ? make : undefined,
      fill: () => {
        if (fill === null) fill = this.of(schema)
        return fill
      },
    }
  }
}

/** A null where none is allowed takes the default, if there is one; what is there gets its own defaults. */
function fillOne(field: Field, given: Json): Json {
  const value = given === null && !field.nullable && field.make !== undefined ? field.make() : given
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
      const value =
        made === null || typeof made !== 'object' ? made : (field.fill()?.(made) ?? made)
      added ??= []
      added.push([name, value])
    }
  }
  return added === undefined ? object : merged(object, added)
}

/** Both are in order, and so is the result. */
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
