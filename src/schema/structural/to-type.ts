/**
 * Converts a schema to a type graph for server-side apply: it determines which fields, lists and
 * maps have separate owners. For values without a declared schema, map keys are owned separately
 * and lists as a whole. Before 1.23 such maps were owned as a whole, except inside an object that
 * preserves unknown fields.
 */
import { change, type Release } from '#api/releases/change.ts'
import { scalar } from '#schema/make-type.ts'
import type { Field, Struct, Type } from '#schema/type.ts'
import {
  hasDefault,
  isEmbedded,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  mapTypeOf,
  preserves,
  propertiesOf,
  valuesOf,
} from './json-schema.ts'

const whole: Type = scalar('any')
const deduced: Type = { is: 'untyped' }
const text: Type = scalar('string')

const deducesShapes = change('values without a declared shape are owned key by key', { since: 23 })
const inheritsEverywhere = change(
  'lists and maps that keep unknown fields deduce the shapes of all that is inside',
  { since: 27 },
)

/** `objectMeta` is the type of metadata. `keepAll` means preserveUnknownFields. */
export function typeOfSchema(
  schema: JsonSchema | undefined,
  objectMeta: Type,
  keepAll: boolean,
  release: Release,
): Struct {
  const header: [string, Type][] = [
    ['apiVersion', text],
    ['kind', text],
    ['metadata', objectMeta],
  ]
  if (schema === undefined) {
    return struct(
      header.map(([name, type]) => field(name, type)),
      { open: true },
    )
  }
  return new Converter(objectMeta, release).struct(schema, keepAll, header)
}

class Converter {
  readonly #objectMeta: Type
  readonly #deduces: boolean
  readonly #inherits: boolean

  constructor(objectMeta: Type, release: Release) {
    this.#objectMeta = objectMeta
    this.#deduces = release.has(deducesShapes)
    this.#inherits = release.has(inheritsEverywhere)
  }

  #shapeless(inherited: boolean): Type {
    return inherited || this.#deduces ? deduced : whole
  }

  /** `around`: whether an enclosing object preserves unknown fields. */
  of(schema: JsonSchema, around: boolean): Type {
    const inherited = around || (this.#inherits && preserves(schema))
    const embedded = isEmbedded(schema)
    const hasFields = schema.properties !== undefined || embedded
    switch (schema.type ?? '') {
      case '':
        if (hasFields) return this.struct(schema, inherited, this.#header(embedded))
        return this.#shapeless(inherited)
      case 'object':
        return hasFields
          ? this.struct(schema, inherited, this.#header(embedded))
          : this.#map(schema, inherited)
      case 'array':
        return this.#list(schema, inherited)
      case 'integer':
      case 'number':
        return scalar('float64')
      case 'boolean':
        return scalar('bool')
      case 'string':
        return text
      default:
        return whole
    }
  }

  #header(embedded: boolean): [string, Type][] {
    if (!embedded) return []
    return [
      ['apiVersion', text],
      ['kind', text],
      ['metadata', this.#objectMeta],
    ]
  }

  struct(schema: JsonSchema, inherited: boolean, header: [string, Type][]): Struct {
    const open = inherited || preserves(schema)
    const fixed = new Map(header)
    const fields = header.map(([name, type]) => field(name, type))
    for (const [name, one] of propertiesOf(schema)) {
      if (fixed.has(name)) continue
      fields.push(field(name, () => this.of(one, open), one))
    }
    return struct(fields, { open, atomic: mapTypeOf(schema) === 'atomic' })
  }

  #map(schema: JsonSchema, inherited: boolean): Type {
    const values = valuesOf(schema)
    return {
      is: 'map',
      values: values === undefined ? this.#shapeless(inherited) : this.of(values, inherited),
      atomic: mapTypeOf(schema) === 'atomic',
      ...(values === undefined && { memberless: true }),
    }
  }

  #list(schema: JsonSchema, inherited: boolean): Type {
    const items = itemsOf(schema)
    const listType = listTypeOf(schema)
    return {
      is: 'list',
      items: items === undefined ? whole : this.of(items, inherited),
      listType: listType === 'set' || listType === 'map' ? listType : 'atomic',
      mapKeys: mapKeysOf(schema),
      declared: listType !== undefined,
    }
  }
}

function field(name: string, given: Type | (() => Type), schema?: JsonSchema): Field {
  let type = typeof given === 'function' ? undefined : given
  const value = schema !== undefined && hasDefault(schema) ? schema.default : undefined
  return {
    name,
    get type() {
      type ??= (given as () => Type)()
      return type
    },
    inline: false,
    number: 0,
    omitEmpty: true,
    pointer: true,
    required: false,
    ...(typeof value !== 'object' && value !== undefined && { default: value }),
  }
}

function struct(fields: Field[], more: { open: boolean; atomic?: boolean }): Struct {
  const byName = new Map(fields.map((one) => [one.name, one]))
  return {
    is: 'struct',
    name: '',
    fields,
    byName,
    atomic: more.atomic === true,
    open: more.open,
  }
}
