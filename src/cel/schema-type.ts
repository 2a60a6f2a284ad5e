/**
 * The type of a structural schema, with the sizes that costs are estimated with.
 *
 *   { type: array, maxItems: 5, items: { type: string, maxLength: 10 } }
 *     → list(string) of at most 5 elements; each string has at most 40 bytes
 *
 * A size without a limit is what fits into the largest request, by the least size that an element
 * has in JSON.
 */
import { type ReleaseChange, change, type Release } from '#api/releases/change.ts'
import {
  hasDefault,
  isEmbedded,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  valuesOf,
} from '#schema/structural/json-schema.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
  type TypeProvider,
} from './cel-type.ts'
import type { SizeOf } from './estimate/call-estimate.ts'
import { escapeFieldName, unescapeFieldName } from './field-name.ts'
import { resourceSchema } from './resource-schema.ts'

/** The largest request that kube-apiserver reads. */
const requestBytesMax = 3 * 1024 * 1024
/** Sizes of values in JSON, with their quotation marks. */
const jsonSize = {
  ...{ emptyString: 2, boolean: 4, number: 1, emptyCollection: 2, anything: 1 },
  ...{ date: 12, shortestDuration: 3, shortestTime: 21, longestDuration: 32, longestTime: 32 },
} as const
/** Limits of strings count characters, of up to 4 bytes. */
const bytesPerCharacter = 4

export interface SchemaType {
  readonly type: CelType
  /** The most elements or characters; 0 for values without a size. */
  readonly maxElements: number
  /** The least size of a value in JSON. */
  readonly minSize: number
  /** Fields of an object, by escaped name. */
  readonly fields?: ReadonlyMap<string, SchemaType>
  /** The elements of a list or a map. */
  readonly elements?: SchemaType
}

const namesAreLimited = change('CEL costs assume that names of objects are short', { since: 37 })
const intOrStringIsLimited = change('CEL costs use maxLength of int-or-string fields', {
  since: 34,
})
const enumsAreLimited = change('CEL costs use the longest value of an enum', { since: 29 })
const keywordsAreFields = change('CEL expressions read fields named like reserved words', {
  since: 31,
})

const simple = (type: CelType, minSize: number, maxElements = 0): SchemaType => ({
  type,
  minSize,
  maxElements,
})

const textWithoutLimit = requestBytesMax - 2
const keys = simple(stringType, jsonSize.emptyString)

class TypeMaker {
  readonly #release: Release
  constructor(release: Release) {
    this.#release = release
  }

  #has(change: ReleaseChange): boolean {
    return this.#release.has(change)
  }

  /**
   * Undefined if expressions cannot see the value. `name`: that of the type, if it is an object.
   */
  make(schema: JsonSchema, isRoot: boolean, name: string): SchemaType | undefined {
    if (isIntOrString(schema)) return this.#intOrString(schema)
    const seen = isRoot ? resourceSchema(schema, this.#has(namesAreLimited)) : schema
    switch (seen.type) {
      case 'array':
        return this.#list(seen, name)
      case 'object':
        return this.#object(seen, name)
      case 'string':
        return this.#text(seen)
      case 'boolean':
        return simple(boolType, jsonSize.boolean)
      case 'number':
        return simple(doubleType, jsonSize.number)
      case 'integer':
        return simple(intType, jsonSize.number)
    }
    return undefined
  }

  #intOrString({ maxLength }: JsonSchema): SchemaType {
    const isLimited = maxLength !== undefined && this.#has(intOrStringIsLimited)
    const max = isLimited ? Math.max(0, maxLength) * bytesPerCharacter : textWithoutLimit
    return simple(dynType, jsonSize.anything, max)
  }

  #list(schema: JsonSchema, name: string): SchemaType | undefined {
    const items = itemsOf(schema)
    const elements = items && this.make(items, isEmbedded(items), `${name}.@idx`)
    if (elements === undefined) return undefined
    const fitting = Math.floor((requestBytesMax - 2) / (elements.minSize + 1))
    return {
      type: listOf(elements.type),
      minSize: jsonSize.emptyCollection,
      maxElements: schema.maxItems === undefined ? fitting : Math.max(0, schema.maxItems),
      elements,
    }
  }

  #object(schema: JsonSchema, name: string): SchemaType | undefined {
    const values = valuesOf(schema)
    if (values !== undefined) return this.#map(schema, values, name)
    const fields = new Map<string, SchemaType>()
    const required = new Set(schema.required)
    let minSize: number = jsonSize.emptyCollection
    for (const [property, one] of propertiesOf(schema)) {
      const escaped = escapeFieldName(property)
      const type = this.make(one, isEmbedded(one), `${name}.${escaped ?? property}`)
      if (type === undefined) continue
      if (escaped !== undefined) fields.set(escaped, type)
      // The server fills in defaults, so that a request can leave such a field out.
      if (required.has(property) && !hasDefault(one))
        minSize += Buffer.byteLength(property) + type.minSize + 4
    }
    const type: CelType = { kind: 'struct', name, parameters: [], nullable: false }
    return { type, minSize, maxElements: 0, fields }
  }

  #map(schema: JsonSchema, values: JsonSchema, name: string): SchemaType | undefined {
    const elements = this.make(values, isEmbedded(values), `${name}.@elem`)
    if (elements === undefined) return undefined
    // A key needs at least its quotation marks, a colon and a comma.
    const fitting = Math.floor((requestBytesMax - 2) / (elements.minSize + 6))
    return {
      type: mapOf(stringType, elements.type),
      minSize: jsonSize.emptyCollection,
      maxElements: schema.maxProperties === undefined ? fitting : Math.max(0, schema.maxProperties),
      elements,
    }
  }

  #text({ format, maxLength, enum: values }: JsonSchema): SchemaType {
    switch (format) {
      case 'byte': {
        const max = maxLength === undefined ? textWithoutLimit : Math.max(0, maxLength)
        return simple(bytesType, jsonSize.emptyString, max)
      }
      case 'duration':
        return simple(durationType, jsonSize.shortestDuration, jsonSize.longestDuration)
      case 'date':
        return simple(timestampType, jsonSize.date, jsonSize.date)
      case 'date-time':
        return simple(timestampType, jsonSize.shortestTime, jsonSize.longestTime)
    }
    const { emptyString } = jsonSize
    if (maxLength !== undefined)
      return simple(stringType, emptyString, Math.max(0, maxLength) * bytesPerCharacter)
    if (values === undefined || values.length === 0 || !this.#has(enumsAreLimited))
      return simple(stringType, emptyString, textWithoutLimit)
    const lengths = values.map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : 0))
    return simple(stringType, emptyString, Math.max(...lengths))
  }
}

/** The type of a schema for expressions on it; undefined if they cannot see its values. */
export const schemaType = (
  schema: JsonSchema,
  isRoot: boolean,
  release: Release,
  name = 'selfType',
): SchemaType | undefined => new TypeMaker(release).make(schema, isRoot, name)

/** How often a value of this type fits into one request, if no limit is set for it. */
export const cardinalityMax = ({ minSize }: SchemaType): number =>
  Math.floor(requestBytesMax / (minSize + 1))

/** The object types in a type, by name. */
function objectTypes(type: SchemaType, found = new Map<string, SchemaType>()) {
  if (type.fields !== undefined) found.set(type.type.name, type)
  for (const field of type.fields?.values() ?? []) objectTypes(field, found)
  if (type.elements !== undefined) objectTypes(type.elements, found)
  return found
}

/** The fields of the objects in a type. They are looked up only when an expression is compiled. */
export function typesOf(type: SchemaType, release: Release): TypeProvider {
  let known: ReadonlyMap<string, SchemaType> | undefined
  const find = (name: string) => {
    known ??= objectTypes(type)
    return known.get(name)
  }
  const keywords = release.has(keywordsAreFields)
  return {
    findType: (name) => find(name)?.type,
    findField(name, field) {
      const fields = find(name)?.fields
      const found = fields?.get(field)
      if (found !== undefined || !keywords) return found?.type
      const isKeyword = unescapeFieldName(`__${field}__`) === field
      return isKeyword ? fields?.get(`__${field}__`)?.type : undefined
    },
  }
}

/**
 * The sizes of the values in a variable with this type. The first step of a path is the variable.
 */
export const sizesOf =
  (root: SchemaType): SizeOf =>
  ({ path }) => {
    if (path.length === 0) return undefined
    let type: SchemaType | undefined = root
    for (const step of path.slice(1)) {
      if (type === undefined) return undefined
      if (step === '@items' || step === '@values') type = type.elements
      else if (step === '@keys') type = type.fields === undefined && isMap(type) ? keys : undefined
      else type = type.fields?.get(step)
    }
    return type && { min: 0, max: type.maxElements }
  }

const isMap = ({ type }: SchemaType): boolean => type.kind === 'map'
