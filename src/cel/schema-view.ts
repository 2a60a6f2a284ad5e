/**
 * JSON with a structural schema as CEL values, read in place and only where an expression looks.
 * The schema decides the type: `1` is a double under `type: number`, and a string with `format:
 * date-time` is a timestamp. Fields that the schema does not know do not exist.
 */
import { parseDuration } from '#api/duration.ts'
import { parseTimestamp } from '#api/timestamp.ts'
import {
  isEmbedded,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  preserves,
  propertyOf,
  valuesOf,
} from '#schema/structural/json-schema.ts'
import { equal, type OwnEquality } from './equality.ts'
import { escapeFieldName, unescapeFieldName } from './field-name.ts'
import { resourceSchema } from './resource-schema.ts'
import { JsonMapView, KeyedList, type ListRules, SchemaList, SetList } from './schema-lists.ts'
import {
  CelError,
  Duration,
  MapValue,
  OpaqueValue,
  overloadError,
  Timestamp,
  type Value,
} from './values.ts'
import { elementWork, namesOf, work } from './work.ts'

type Json = Readonly<Record<string, unknown>>

/** Schemas of resources with apiVersion, kind and metadata, which each resource has. */
const resourceSchemas = new WeakMap<JsonSchema, JsonSchema>()

function asResource(schema: JsonSchema): JsonSchema {
  let known = resourceSchemas.get(schema)
  if (known === undefined) {
    known = resourceSchema(schema, false)
    resourceSchemas.set(schema, known)
  }
  return known
}

const newestLists: ListRules = { comparesValues: true }

/**
 * The value of JSON under its schema. `isResource` for the root of a custom resource or an embedded
 * one.
 */
export function schemaView(
  json: unknown,
  schema: JsonSchema,
  isResource = false,
  lists: ListRules = newestLists,
): Value {
  if (json === null || json === undefined)
    return schema.nullable
      ? null
      : new CelError('invalid data, got null for schema with nullable=false')
  if (isIntOrString(schema)) return intOrString(json)
  switch (schema.type) {
    case 'object':
      return objectView(json, schema, isResource, lists)
    case 'array':
      return listView(json, schema, lists)
    case 'string':
      return typeof json === 'string' ? textView(json, schema.format) : expected('string', json)
    case 'number':
      return typeof json === 'number' || typeof json === 'bigint'
        ? Number(json)
        : expected('float', json)
    case 'integer':
      return wholeNumber(json) ?? expected('int', json)
    case 'boolean':
      return typeof json === 'boolean' ? json : expected('bool', json)
  }
  if (preserves(schema)) return new UnknownValue(json)
  return new CelError(
    'invalid type, expected object, array, number, integer, boolean or string, or no type with ' +
      'x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ' +
      `${schema.type ?? ''}`,
  )
}

function wholeNumber(json: unknown): bigint | undefined {
  if (typeof json === 'bigint') return json
  return typeof json === 'number' && Number.isInteger(json) ? BigInt(json) : undefined
}

function intOrString(json: unknown): Value {
  if (typeof json === 'string') return json
  return (
    wholeNumber(json) ??
    new CelError('invalid data, expected XIntOrString value to be either a string or integer')
  )
}

function expected(type: string, json: unknown): CelError {
  return new CelError(`invalid data, expected ${type}, got ${goTypeOf(json)}`)
}

function goTypeOf(json: unknown): string {
  if (Array.isArray(json)) return '[]interface {}'
  if (typeof json === 'object') return 'map[string]interface {}'
  if (typeof json === 'boolean') return 'bool'
  if (typeof json === 'string') return 'string'
  return wholeNumber(json) === undefined ? 'float64' : 'int64'
}

const dateOnly = /^\d{4}-\d{2}-\d{2}$/

/** A string whose format is a type of CEL. */
function textView(text: string, format: string | undefined): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseDuration(text) ?? wordyDuration(text)
      return nanos === undefined
        ? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
        : new Duration(nanos)
    }
    case 'date': {
      const instant = dateOnly.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined
      return instant === undefined
        ? new CelError(`Invalid date formatted string ${text}`)
        : new Timestamp(instant.seconds, 0)
    }
    case 'date-time':
      return dateTime(text)
    case 'byte':
      return Buffer.from(text, 'base64')
  }
  return text
}

function dateTime(text: string): Value {
  const zoned = /(?:[zZ]|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`
  const instant = parseTimestamp(zoned)
  const offset = /([+-])(\d\d):(\d\d)$/.exec(zoned)
  if (instant === undefined) return new CelError(`Invalid date-time formatted string ${text}`)
  const size = offset === null ? 0 : Number(offset[2]) * 3600 + Number(offset[3]) * 60
  return new Timestamp(instant.seconds, instant.nanos, offset?.[1] === '-' ? -size : size)
}

const unitNanos: readonly (readonly [readonly string[], bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], 1_000_000_000n],
  [['m', 'min'], 60_000_000_000n],
  [['h', 'hr', 'hour'], 3_600_000_000_000n],
  [['d', 'day'], 86_400_000_000_000n],
  [['w', 'wk', 'week'], 604_800_000_000_000n],
]

/** `2 hours 30 minutes`: numbers with the names of units. */
function wordyDuration(text: string): bigint | undefined {
  let total: bigint | undefined
  for (const [, number, name] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = (name as string).toLowerCase()
    const found = unitNanos.find(
      ([names]) => names.includes(unit) || unit.startsWith(names.at(-1) as string),
    )
    if (found !== undefined)
      total = BigInt.asIntN(64, (total ?? 0n) + BigInt(number as string) * found[1])
  }
  return total
}

function objectView(
  json: unknown,
  schema: JsonSchema,
  isResource: boolean,
  lists: ListRules,
): Value {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return new CelError('invalid data, expected a map for the provided schema with type=object')
  const seen = isResource || isEmbedded(schema) ? asResource(schema) : schema
  if (seen.properties !== undefined) return new ObjectMap(json as Json, seen, lists)
  return new DictionaryMap(json as Json, valuesOf(schema), lists)
}

/** An object with named fields. Their names in expressions are escaped. */
class ObjectMap extends JsonMapView implements OwnEquality {
  readonly json: Json
  readonly #schema: JsonSchema
  readonly #lists: ListRules
  constructor(json: Json, schema: JsonSchema, lists: ListRules) {
    super()
    this.json = json
    this.#schema = schema
    this.#lists = lists
  }
  #schemaOf(name: string): JsonSchema | undefined {
    return propertyOf(this.#schema, name)
  }
  get size(): number {
    return namesOf(this.json).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return overloadError(key)
    const name = unescapeFieldName(key)
    if (name === undefined || !Object.hasOwn(this.json, name)) return undefined
    return this.#read(name)
  }
  #read(name: string): Value | undefined {
    const value = this.json[name]
    const schema = this.#schemaOf(name)
    // A field that is null does not exist.
    if (value === null || value === undefined || schema === undefined) return undefined
    return schemaView(value, schema, false, this.#lists)
  }
  keys(): Iterable<Value> {
    return namesOf(this.json).flatMap((name) =>
      this.#schemaOf(name) === undefined ? [] : [escapeFieldName(name) ?? name],
    )
  }
  equalsOwn(other: Value): boolean | CelError {
    if (!(other instanceof MapValue)) return overloadError(other)
    if (this.size !== other.size) return false
    for (const name of namesOf(this.json)) {
      if (this.#schemaOf(name) === undefined) {
        if (!(other instanceof ObjectMap)) return overloadError(other)
        if (Object.hasOwn(other.json, name) && !isSameJson(this.json[name], other.json[name]))
          return false
        continue
      }
      const mine = this.#read(name)
      const key = escapeFieldName(name) ?? name
      const theirs = other.find(key)
      if ((mine === undefined) !== (theirs === undefined)) return false
      if (mine === undefined || theirs === undefined) continue
      const same = equal(mine, theirs)
      if (same !== true) return same
    }
    return true
  }
}

/** A map whose keys the user chooses. Without a schema for the values no key can be read. */
class DictionaryMap extends JsonMapView implements OwnEquality {
  readonly json: Json
  readonly #values: JsonSchema | undefined
  readonly #lists: ListRules
  constructor(json: Json, values: JsonSchema | undefined, lists: ListRules) {
    super()
    this.json = json
    this.#values = values
    this.#lists = lists
  }
  get size(): number {
    return namesOf(this.json).length
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return overloadError(key)
    if (this.#values === undefined || !Object.hasOwn(this.json, key)) return undefined
    return schemaView(this.json[key], this.#values, false, this.#lists)
  }
  keys(): Iterable<Value> {
    return this.#values === undefined ? [] : namesOf(this.json)
  }
  equalsOwn(other: Value): boolean | CelError {
    if (!(other instanceof MapValue)) return overloadError(other)
    if (this.size !== other.size) return false
    work(elementWork * this.size)
    return this.#values === undefined ? this.#equalsUnread(other) : this.#equalsRead(other)
  }
  #equalsRead(other: MapValue): boolean | CelError {
    for (const name of namesOf(this.json)) {
      const theirs = other.find(name)
      if (theirs === undefined) return false
      const same = equal(this.find(name) as Value, theirs)
      if (same !== true) return same
    }
    return true
  }
  /** Values that no expression can read are compared as JSON, where both maps have them. */
  #equalsUnread(other: MapValue): boolean | CelError {
    const names = namesOf(this.json)
    if (names.length > 0 && !(other instanceof JsonMapView)) return overloadError()
    const theirs = other instanceof JsonMapView ? other.json : {}
    return names.every(
      (name) => !Object.hasOwn(theirs, name) || isSameJson(this.json[name], theirs[name]),
    )
  }
}

const escapedKey = (name: string): string => escapeFieldName(name) ?? name

function listView(json: unknown, schema: JsonSchema, lists: ListRules): Value {
  if (!Array.isArray(json))
    return new CelError('invalid data, expected an array for the provided schema with type=array')
  const items = itemsOf(schema)
  if (items === undefined)
    return new CelError('invalid array type, expected Items with a non-empty Schema')
  const view = (item: unknown) => schemaView(item, items, false, lists)
  switch (listTypeOf(schema)) {
    case 'map':
      return new KeyedList(json, view, mapKeysOf(schema).map(escapedKey), lists)
    case 'set':
      return new SetList(json, view, lists)
  }
  return new SchemaList(json, view)
}

/** Data of unknown type that the schema preserves: it can only be compared. */
class UnknownValue extends OpaqueValue {
  readonly typeName = 'unknown'
  readonly #json: unknown
  constructor(json: unknown) {
    super()
    this.#json = json
  }
  equals(other: Value): boolean | CelError {
    return other instanceof UnknownValue && isSameJson(this.#json, other.#json)
  }
}

/** Equal JSON; for Kubernetes an empty list or map equals an absent one. */
function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isEmpty(a) && isEmpty(b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => isSameJson(item, b[at]))
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [left, right] = [a as Json, b as Json]
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  )
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.keys(value).length === 0)
