/**
 * Prunes a value by its schema: removes unknown fields and nulls that are not nullable, and
 * normalises the metadata of embedded objects. Compiled once per schema. The result is a copy with
 * sorted keys.
 *
 *   properties: { a: {}, free: { x-kubernetes-preserve-unknown-fields: true } }
 *   { b: 1, a: 2, free: { any: 3 } }  →  { a: 2, free: { any: 3 } }
 */
import type { Json } from '#api/object-meta.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import { setKey } from '#schema/user-key.ts'
import {
  hasAdditional,
  hasDefault,
  isEmbedded,
  isMetaField,
  itemsOf,
  type JsonSchema,
  preserves,
  propertiesOf,
  valuesOf,
} from './json-schema.ts'
import { rememberOrder, sortedCopy, sortedKeys } from './sorted-copy.ts'

export type Copy = (value: Json) => Json

/**
 * Decodes metadata, kind and apiVersion of an embedded object. Throws the caller's error if one is
 * invalid.
 */
export type ReadMeta = (field: string, value: Json) => Json | undefined

export interface PruneOptions {
  readonly readMeta: ReadMeta
  /** Keep unknown fields and nulls, for v1beta1 definitions with preserveUnknownFields. */
  readonly keepAll?: boolean
  /** Keep nulls. */
  readonly keepNulls?: boolean
}

interface Member {
  readonly schema: JsonSchema | undefined
  copy: Copy | undefined
}

export class Pruner {
  readonly #options: PruneOptions
  readonly #compiled = new Map<JsonSchema, Copy>()

  constructor(options: PruneOptions) {
    this.#options = options
  }

  /** The pruning function of a schema. Without a schema, all fields are unknown. */
  of(schema: JsonSchema | undefined): Copy {
    if (schema === undefined) return this.#options.keepAll ? sortedCopy : emptied
    let copy = this.#compiled.get(schema)
    if (copy === undefined) {
      copy = this.#compile(schema, preserves(schema))
      this.#compiled.set(schema, copy)
    }
    return copy
  }

  #compile(schema: JsonSchema, preserving: boolean): Copy {
    const embedded = isEmbedded(schema)
    const members = new Map<string, Member>(
      propertiesOf(schema).map(([name, one]) => [name, { schema: one, copy: undefined }]),
    )
    const others: Member | undefined = hasAdditional(schema)
      ? { schema: valuesOf(schema), copy: undefined }
      : undefined
    const keeps = preserving || this.#options.keepAll === true
    const copyMember = (member: Member, value: Json): Json => {
      member.copy ??= this.of(member.schema)
      return member.copy(value)
    }
    const items = itemsOf(schema)
    let copyItem: Copy | undefined
    const { readMeta } = this.#options
    const dropsNulls = !this.#options.keepAll && !this.#options.keepNulls
    return (value) => {
      if (value === null || typeof value !== 'object') return value
      if (Array.isArray(value)) {
        copyItem ??= preserving ? this.#preservingItems(items) : this.of(items)
        return value.map(copyItem)
      }
      const out: JsonObject = {}
      const keys = sortedKeys(value)
      if (others !== undefined) rememberOrder(out, value, keys)
      for (const key of keys) {
        const given = value[key]
        const member = members.get(key) ?? others
        if (given === null && dropsNulls && isUselessFor(member?.schema)) continue
        if (embedded && isMetaField(key)) {
          const read = readMeta(key, given)
          if (read !== undefined) setKey(out, key, read)
          continue
        }
        if (member === undefined) {
          if (keeps) setKey(out, key, sortedCopy(given))
          continue
        }
        setKey(out, key, copyMember(member, given))
      }
      return out
    }
  }

  /** Items of a list whose schema preserves unknown fields preserve theirs too. */
  #preservingItems(items: JsonSchema | undefined): Copy {
    return items === undefined ? sortedCopy : this.#compile(items, true)
  }
}

/** Whether the schema neither allows null nor has a default that replaces it. */
export const isUselessFor = (schema: JsonSchema | undefined): boolean =>
  schema !== undefined && schema.nullable !== true && !hasDefault(schema)

/** Without a schema, all fields of an object are unknown and removed. */
function emptied(value: Json): Json {
  if (Array.isArray(value)) return value.map(emptied)
  return isObject(value) ? {} : value
}
