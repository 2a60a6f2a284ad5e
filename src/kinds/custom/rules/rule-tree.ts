/**
 * The validation rules of a schema with the schemas that lead to them. Rules are compiled when an
 * object first reaches them, so that kinds without objects cost nothing.
 */
import type { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import { escapeFieldName } from '#cel/field-name.ts'
import { type SchemaType, schemaType } from '#cel/schema-type.ts'
import { isObject } from '#schema/misfit.ts'
import {
  isEmbedded,
  itemsOf,
  type JsonSchema,
  mapTypeOf,
  propertiesOf,
  rulesOf,
  valuesOf,
} from '#schema/structural/json-schema.ts'
import { type CompiledRule, compileRule, storedEnvironment } from './compile-rule.ts'
import { type Correlation, KeyedElements } from './correlation.ts'
import type { RuleRun } from './rule-run.ts'
import type { RuleTimer } from './rule-timer.ts'

/**
 * The correlations for ratcheting: of the value itself, and of its nearest parent that can be
 * correlated.
 */
interface Ratchet {
  readonly current: Correlation | undefined
  readonly nearest: Correlation | undefined
}

const nothingToCompare: Ratchet = { current: undefined, nearest: undefined }

function ratchetKey({ current, nearest }: Ratchet, name: string): Ratchet {
  if (current === undefined) return { current, nearest }
  // The old object has the apiVersion and kind of the request, so these never differ.
  if (nearest === undefined && (name === 'apiVersion' || name === 'kind')) return nothingToCompare
  return { current: current.key(name), nearest: current }
}

const ratchetIndex = ({ current, nearest }: Ratchet, at: number): Ratchet =>
  current === undefined ? { current, nearest } : { current: current.index(at), nearest: current }

/** Whether values of a map can be correlated with those before an update. */
export const isCorrelatable = (schema: JsonSchema): boolean => {
  const type = mapTypeOf(schema)
  return type === undefined || type === 'granular' || type === 'atomic'
}

const hasRules = (schema: JsonSchema): boolean => {
  if (rulesOf(schema).length > 0) return true
  const inside = [itemsOf(schema), valuesOf(schema), ...propertiesOf(schema).map(([, one]) => one)]
  return inside.some((one) => one !== undefined && hasRules(one))
}

interface TreeSettings {
  readonly release: Release
  readonly timed: RuleTimer
}

class RuleNode {
  readonly #schema: JsonSchema
  readonly #isRoot: boolean
  readonly #type: SchemaType
  readonly #settings: TreeSettings
  readonly #items: RuleNode | undefined
  readonly #values: RuleNode | undefined
  readonly #properties: ReadonlyMap<string, RuleNode>
  #compiled: readonly CompiledRule[] | undefined

  constructor(schema: JsonSchema, isRoot: boolean, type: SchemaType, settings: TreeSettings) {
    this.#schema = schema
    this.#isRoot = isRoot
    this.#type = type
    this.#settings = settings
    const items = itemsOf(schema)
    const values = valuesOf(schema)
    this.#items = items && this.#inside(items, type.elements)
    this.#values = values && this.#inside(values, type.elements)
    this.#properties = new Map(
      propertiesOf(schema).flatMap(([name, one]): [string, RuleNode][] => {
        const node = this.#inside(one, this.#fieldType(name, one))
        return node === undefined ? [] : [[name, node]]
      }),
    )
  }

  #inside(schema: JsonSchema, type: SchemaType | undefined): RuleNode | undefined {
    if (type === undefined || !hasRules(schema)) return undefined
    return new RuleNode(schema, isEmbedded(schema), type, this.#settings)
  }

  /** A name that no expression can write is no field of its type, but its schema can have rules. */
  #fieldType(name: string, schema: JsonSchema): SchemaType | undefined {
    const escaped = escapeFieldName(name)
    return escaped === undefined
      ? schemaType(schema, isEmbedded(schema), this.#settings.release)
      : this.#type.fields?.get(escaped)
  }

  check(run: RuleRun, path: FieldPath, value: Json, old: Json | undefined, ratchet: Ratchet): void {
    this.#settings.timed('evaluation', () => this.#check(run, path, value, old, ratchet))
  }

  #check(
    run: RuleRun,
    path: FieldPath,
    value: Json,
    old: Json | undefined,
    ratchet: Ratchet,
  ): void {
    if (value === null || value === undefined) return
    const rules = rulesOf(this.#schema)
    if (rules.length > 0) {
      this.#compiled ??= this.#settings.timed('compilation', () =>
        rules.map((rule) => compileRule(rule, this.#scope, storedEnvironment)),
      )
      run.check(rules, this.#compiled, {
        path,
        schema: this.#schema,
        isRoot: this.#isRoot,
        value,
        old: old ?? undefined,
        isUnchanged: () => (ratchet.current ?? ratchet.nearest)?.isSame === true,
      })
    }
    if (Array.isArray(value)) this.#checkList(run, path, value, old, ratchet)
    else if (isObject(value)) this.#checkObject(run, path, value, old, ratchet)
  }

  get #scope() {
    return { schema: this.#schema, type: this.#type, release: this.#settings.release }
  }

  #checkList(
    run: RuleRun,
    path: FieldPath,
    list: readonly Json[],
    old: Json | undefined,
    ratchet: Ratchet,
  ): void {
    const items = this.#items
    if (items === undefined) return
    const before = new KeyedElements(this.#schema, Array.isArray(old) ? old : [])
    for (const [at, one] of list.entries())
      items.check(run, path.index(at), one, before.find(one), ratchetIndex(ratchet, at))
  }

  #checkObject(
    run: RuleRun,
    path: FieldPath,
    object: Readonly<Record<string, Json>>,
    old: Json | undefined,
    ratchet: Ratchet,
  ): void {
    const before =
      isCorrelatable(this.#schema) && isObject(old ?? null) ? (old as typeof object) : {}
    const oldOf = (name: string) => (Object.hasOwn(before, name) ? before[name] : undefined)
    const values = this.#values
    if (values === undefined && this.#properties.size === 0) return
    for (const [name, one] of Object.entries(object)) {
      const inside = this.#properties.get(name)
      const compared = ratchetKey(ratchet, name)
      values?.check(run, path.key(name), one, oldOf(name), compared)
      inside?.check(run, path.child(name), one, oldOf(name), compared)
    }
  }
}

export class RuleTree {
  readonly #root: RuleNode
  constructor(root: RuleNode) {
    this.#root = root
  }

  /** Undefined if no schema has rules, or no expression can see the values. */
  static of(schema: JsonSchema, isRoot: boolean, settings: TreeSettings): RuleTree | undefined {
    if (!hasRules(schema)) return undefined
    const type = schemaType(schema, isRoot, settings.release)
    return type && new RuleTree(new RuleNode(schema, isRoot, type, settings))
  }

  check(
    run: RuleRun,
    path: FieldPath,
    value: Json,
    old: Json | undefined,
    correlation: Correlation | undefined,
  ): void {
    this.#root.check(run, path, value, old, { current: correlation, nearest: undefined })
  }
}
