/**
 * The type graph of a schema, as apply reads it: which fields, lists and maps are owned piece by piece. Values of no
 * declared shape are owned whole, except where an object around them keeps unknown fields: there they are what they look
 * like.
 */
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

/** `objectMeta`: the type of metadata. `keepAll`: the definition keeps unknown fields everywhere. */
export function typeOfSchema(
  schema: JsonSchema | undefined,
  objectMeta: Type,
  keepAll: boolean,
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
  return new Converter(objectMeta).struct(schema, keepAll, header)
}

class Converter {
  readonly #objectMeta: Type

  constructor(objectMeta: Type) {
    this.#objectMeta = objectMeta
  }

  /** `inherited`: an object around this one keeps unknown fields. */
  of(schema: JsonSchema, inherited: boolean): Type {
    const embedded = isEmbedded(schema)
    const hasFields = schema.properties !== undefined || embedded
    switch (schema.type ?? '') {
      case '':
        if (hasFields) return this.struct(schema, inherited, this.#header(embedded))
        return inherited ? deduced : whole
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
    const fallback = inherited ? deduced : whole
    return {
      is: 'map',
      values: values === undefined ? fallback : this.of(values, inherited),
      atomic: mapTypeOf(schema) === 'atomic',
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
