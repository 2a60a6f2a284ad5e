/**
 * Validates a value against its schema, with kube-apiserver's results and messages. It runs the
 * checks in the same order. Of several failing alternatives it reports the one with the most passed
 * checks. Compiled once per schema. Patterns run in linear time.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { type ReleaseChange, change } from '#api/releases/change.ts'
import { add, addAll, type Errors } from './check-result.ts'
import { checkEnum, checkNumber, checkString } from './check-scalar.ts'
import { checkType } from './check-type.ts'
import { hasAdditional, itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.ts'
import type { CheckOptions } from './schema-format.ts'
import { keysAsWritten } from './sorted-copy.ts'

/**
 * A part of the object before an update. An unchanged part may break rules that became stricter.
 */
export interface Before {
  /** Undefined: nothing corresponds to the field, key or item. */
  key(name: string): Before | undefined
  index(at: number): Before | undefined
  readonly isSame: boolean
}

/**
 * Adds to the errors. Returns how many checks passed or were made, which is used to compare
 * alternatives.
 */
export type SchemaCheck = (value: Json, path: string, errors: Errors, before?: Before) => number

const indexesItems = change('schema errors name the index of an item', { since: 24 })
const countsProperties = change(
  'errors of minProperties and maxProperties show the number of properties',
  { since: 24 },
)
const looksIntoMiscounted = change(
  'objects with too few or too many properties are checked inside too',
  { since: 28 },
)

export class Checker {
  readonly #options: CheckOptions
  readonly #compiled = new Map<JsonSchema, SchemaCheck>()
  readonly #enums = new Map<string, number>()

  constructor(options: CheckOptions) {
    this.#options = options
  }

  of(schema: JsonSchema): SchemaCheck {
    let check = this.#compiled.get(schema)
    if (check === undefined) {
      check = this.#compile(schema)
      this.#compiled.set(schema, check)
    }
    return check
  }

  #compile(schema: JsonSchema): SchemaCheck {
    const types = checkType(schema, this.#options)
    const strings = checkString(schema, this.#options)
    const numbers = checkNumber(schema, this.#options)
    const enums = checkEnum(schema, this.#enums)
    const junctors = this.#junctors(schema)
    const lists = this.#lists(schema)
    const objects = this.#objects(schema)
    const check: SchemaCheck = (value, path, errors, before) => {
      if (value === null) return types(value, path, errors) + enums(value, path, errors)
      let count = types(value, path, errors)
      count += junctors(value, path, errors) + 1
      if (typeof value === 'string') count += strings(value, path, errors)
      else if (typeof value === 'number' || typeof value === 'bigint') {
        count += numbers(value, path, errors) + 1
      } else if (Array.isArray(value)) count += lists(value, path, errors, before) + 1
      enums(value, path, errors)
      count++
      if (typeof value === 'object' && !Array.isArray(value))
        count += objects(value, path, errors, before) + 1
      return count + 1
    }
    return (value, path, errors, before) => {
      if (before === undefined) return check(value, path, errors)
      const found: Errors = new Map()
      const count = check(value, path, found, before)
      if (found.size > 0 && !before.isSame) addAll(errors, found)
      return count
    }
  }

  #has(change: ReleaseChange): boolean {
    return this.#options.release.has(change)
  }

  #lists(
    schema: JsonSchema,
  ): (value: Json[], path: string, errors: Errors, before?: Before) => number {
    const items = itemsOf(schema)
    const { minItems, maxItems, uniqueItems } = schema
    const indexed = this.#has(indexesItems)
    return (value, path, errors, before) => {
      let count = 1
      if (items !== undefined) {
        const check = this.of(items)
        for (const [i, item] of value.entries())
          count += check(item, indexed ? `${path}[${i}]` : path, errors, before?.index(i))
      }
      const { length } = value
      const misfit = (bound: number, text: string) =>
        add(errors, {
          is: length > bound ? 'many' : 'value',
          path,
          value: length,
          bound: null,
          most: bound,
          message: `${path} in body should have ${text} ${bound} items`,
        })
      if (minItems !== undefined && length < minItems) misfit(minItems, 'at least')
      if (maxItems !== undefined && length > maxItems) misfit(maxItems, 'at most')
      if (uniqueItems === true && hasTwins(value)) {
        add(errors, { is: 'value', path, message: `${path} in body shouldn't contain duplicates` })
      }
      return count
    }
  }

  #objects(
    schema: JsonSchema,
  ): (value: { [key: string]: Json }, path: string, errors: Errors, before?: Before) => number {
    const { required = [] } = schema
    const named = new Map(propertiesOf(schema))
    const others = valuesOf(schema)
    const closed = hasAdditional(schema) && schema.additionalProperties === false
    const miscounted = this.#sizes(schema)
    const looksInside = this.#has(looksIntoMiscounted)
    return (value, path, errors, before) => {
      if (miscounted(value, path, errors) && !looksInside) return 0
      let count = 0
      const inside = path === '' ? '' : `${path}.`
      const old = (key: string) =>
        path === '' && (key === 'apiVersion' || key === 'kind') ? undefined : before?.key(key)
      for (const key of others === undefined ? Object.keys(value) : keysAsWritten(value)) {
        const property = named.get(key)
        if (property !== undefined)
          count += this.of(property)(value[key], inside + key, errors, old(key))
        else if (others !== undefined)
          count += this.of(others)(value[key], `${path}.${key}`, errors, old(key))
        else if (closed) {
          const message = `${path}.${key} in body is a forbidden property`
          add(errors, { is: 'value', path, value: key, message })
        }
      }
      for (const key of required) {
        if (Object.hasOwn(value, key)) continue
        const missing = `${path}.${key}`
        add(errors, { is: 'required', path: missing, message: `${missing} in body is required` })
      }
      return count
    }
  }

  /** Checks minProperties and maxProperties. */
  #sizes(schema: JsonSchema): (value: object, path: string, errors: Errors) => boolean {
    const { minProperties, maxProperties } = schema
    if (minProperties === undefined && maxProperties === undefined) return () => false
    const counts = this.#has(countsProperties)
    return (value, path, errors) => {
      const size = Object.keys(value).length
      const misfit = (bound: number, text: string) =>
        add(errors, {
          is: size > bound ? 'many' : 'value',
          path,
          value: counts ? size : bound,
          most: bound,
          message: `${path} in body should have ${text} ${bound} properties`,
        })
      const before = errors.size
      if (minProperties !== undefined && size < minProperties) misfit(minProperties, 'at least')
      if (maxProperties !== undefined && size > maxProperties) misfit(maxProperties, 'at most')
      return errors.size > before
    }
  }

  /** Checks anyOf, oneOf, allOf and not. */
  #junctors(schema: JsonSchema): SchemaCheck {
    const { anyOf = [], oneOf = [], allOf = [], not } = schema
    if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return () => 1
    return (value, path, errors) => {
      const quoted = goQuote(path)
      const say = (text: string) =>
        add(errors, { is: 'whole', path: '', message: `${quoted} must ${text}` })
      let count = 1
      if (anyOf.length > 0) {
        const { best, passed } = this.#bestOf(anyOf, value, path, true)
        if (passed === 0) say('validate at least one schema (anyOf)')
        addAll(errors, best.errors)
        count += best.count
      }
      if (oneOf.length > 0) {
        const { best, passed } = this.#bestOf(oneOf, value, path, false)
        if (passed !== 1) {
          const found = passed === 0 ? 'Found none valid' : `Found ${passed} valid alternatives`
          say(`validate one and only one schema (oneOf). ${found}`)
        }
        if (passed <= 1) {
          addAll(errors, best.errors)
          count += best.count
        }
      }
      let passed = 0
      for (const one of allOf) {
        const own: Errors = new Map()
        count += this.of(one)(value, path, own)
        if (own.size === 0) passed++
        addAll(errors, own)
      }
      if (passed !== allOf.length) {
        say(`validate all the schemas (allOf)${passed === 0 ? '. None validated' : ''}`)
      }
      if (not !== undefined) {
        const own: Errors = new Map()
        this.of(not)(value, path, own)
        if (own.size === 0) say('not validate the schema (not)')
      }
      return count
    }
  }

  /** The first alternative that matches. Otherwise the failing one with the most passed checks. */
  #bestOf(alternatives: readonly JsonSchema[], value: Json, path: string, stops: boolean) {
    let best: { errors: Errors; count: number } | undefined
    let passed = 0
    for (const one of alternatives) {
      const errors: Errors = new Map()
      const count = this.of(one)(value, path, errors)
      if (errors.size === 0) {
        if (passed++ === 0) best = { errors, count }
        if (stops) break
      } else if (passed === 0 && (best === undefined || count > best.count))
        best = { errors, count }
    }
    return { best: best as { errors: Errors; count: number }, passed }
  }
}

/** Whether two items are equal. Keys are sorted already, so equal values have equal JSON. */
function hasTwins(items: readonly Json[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item))).size < items.length
}
