/**
 * A schema of a definition for its validation rules: its type, and the maximum number of values of
 * it in an object. For example, a rule on the items of a list with maxItems 10 costs ten times the
 * cost of one evaluation.
 */
import type { Release } from '#api/releases/change.ts'
import { escapeFieldName } from '#cel/field-name.ts'
import { type SchemaType, schemaType } from '#cel/schema-type.ts'
import {
  hasAdditional,
  isEmbedded,
  type JsonSchema,
  rulesOf,
} from '#schema/structural/json-schema.ts'

type Step = { readonly to: 'elements' } | { readonly to: 'field'; readonly name: string }

/** The factor by which a schema multiplies the values below it; undefined if it has no limit. */
function factorOf(schema: JsonSchema): number | undefined {
  const { type, maxItems, maxProperties } = schema
  if (type === 'array') return maxItems === undefined ? undefined : Math.max(0, maxItems)
  if (type !== 'object' || !hasAdditional(schema)) return 1
  return maxProperties === undefined ? undefined : Math.max(0, maxProperties)
}

export class RulePlace {
  readonly schema: JsonSchema
  /** Undefined: no limit of a list or map above bounds the number of values. */
  readonly cardinality: number | undefined
  readonly #release: Release
  readonly #parent: RulePlace | undefined
  readonly #step: Step | undefined
  /** Whether this schema or a parent has rules, so that types are needed. */
  readonly #isRuled: boolean
  #type: SchemaType | undefined | null = null

  constructor(schema: JsonSchema, release: Release, parent?: RulePlace, step?: Step) {
    this.schema = schema
    this.#release = release
    this.#parent = parent
    this.#step = step
    const isInside = parent === undefined ? false : parent.#isRuled
    this.#isRuled = isInside || rulesOf(schema).length > 0
    const above = parent === undefined ? 1 : parent.cardinality
    const factor = parent === undefined ? 1 : factorOf(parent.schema)
    this.cardinality = above === undefined || factor === undefined ? undefined : above * factor
  }

  field(name: string, schema: JsonSchema): RulePlace {
    return new RulePlace(schema, this.#release, this, { to: 'field', name })
  }

  /** Items of a list or values of a map. */
  elements(schema: JsonSchema): RulePlace {
    return new RulePlace(schema, this.#release, this, { to: 'elements' })
  }

  /** Undefined if expressions cannot see values of the schema. */
  get type(): SchemaType | undefined {
    if (this.#type === null) this.#type = this.#typeFromParent() ?? this.#ownType()
    return this.#type
  }

  #typeFromParent(): SchemaType | undefined {
    const parent = this.#parent
    if (parent === undefined || !parent.#isRuled || this.#step === undefined) return undefined
    if (this.#step.to === 'elements') return parent.type?.elements
    const escaped = escapeFieldName(this.#step.name)
    return escaped === undefined ? undefined : parent.type?.fields?.get(escaped)
  }

  #ownType(): SchemaType | undefined {
    const isRoot = this.#parent === undefined || isEmbedded(this.schema)
    return schemaType(this.schema, isRoot, this.#release)
  }
}
