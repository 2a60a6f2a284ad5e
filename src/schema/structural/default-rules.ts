/**
 * Validates defaults: their own schema must accept them without pruning. Only the metadata of
 * embedded objects may change, because kube-apiserver normalises it after the check.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import { releaseOf } from '#api/releases/change.ts'
import { Checker } from './check.ts'
import { type Errors, fieldErrors } from './check-result.ts'
import { coerceError, type MetadataProblem } from './coerce.ts'
import { checkEmbedded, checkTypeAndMeta } from './embedded.ts'
import { tidyMetadata } from './embedded-metadata.ts'
import {
  hasDefault,
  isEmbedded,
  isMetaField,
  itemsOf,
  type JsonSchema,
  propertiesOf,
} from './json-schema.ts'
import { Pruner } from './prune.ts'
import { sortedCopy } from './sorted-copy.ts'

export interface DefaultRules {
  /** Whether unknown fields are rejected. */
  readonly pruned: boolean
  readonly metadataProblem: MetadataProblem
  readonly release: number
  /** Evaluates the validation rules of the schema for its default. */
  checkRules?(schema: JsonSchema, isRoot: boolean, path: FieldPath): FieldError[]
}

/** A whole object that contains a value at its path. */
type Surround = (value: Json) => JsonObject

const typed: Surround = (value) => ({
  apiVersion: 'validation/v1',
  kind: 'Validation',
  ...(isObject(value) && value),
})

export function checkDefaults(
  schema: JsonSchema,
  path: FieldPath,
  rules: DefaultRules,
): FieldError[] {
  const root = isEmbedded(schema) ? schema : { ...schema, 'x-kubernetes-embedded-resource': true }
  return new Walk(rules).check(root, path, typed, root, false)
}

class Walk {
  readonly #rules: DefaultRules
  readonly #checker: Checker
  readonly #pruner = new Pruner({ readMeta: (_field, value) => value, keepNulls: true })

  constructor(rules: DefaultRules) {
    this.#rules = rules
    const release = releaseOf(rules.release)
    this.#checker = new Checker({ release, keepFormats: true, eitherUntyped: true })
  }

  check(
    schema: JsonSchema,
    path: FieldPath,
    surround: Surround,
    root: JsonSchema,
    insideMeta: boolean,
  ): FieldError[] {
    if (isEmbedded(schema)) return this.#inside(schema, path, typed, schema, false)
    return this.#inside(schema, path, surround, root, insideMeta)
  }

  #inside(
    schema: JsonSchema,
    path: FieldPath,
    surround: Surround,
    root: JsonSchema,
    insideMeta: boolean,
  ): FieldError[] {
    const errors: FieldError[] = []
    if (hasDefault(schema)) {
      const at = path.child('default')
      errors.push(
        ...(insideMeta
          ? this.#metaDefault(schema, at, surround, root)
          : this.#default(schema, at, schema === root)),
      )
    }
    const items = itemsOf(schema)
    if (items !== undefined) {
      const around: Surround = (value) => surround([value])
      errors.push(...this.check(items, path.child('items'), around, root, insideMeta))
    }
    for (const [name, one] of propertiesOf(schema)) {
      const around: Surround = (value) => surround({ [name]: value })
      const meta = insideMeta || (isEmbedded(schema) && isMetaField(name))
      errors.push(...this.check(one, path.child('properties').key(name), around, root, meta))
    }
    return errors
  }

  #default(schema: JsonSchema, path: FieldPath, isRoot: boolean): FieldError[] {
    const value = schema.default as Json
    const errors: FieldError[] = []
    const wrong = coerceError(schema, value, path, this.#rules.metadataProblem)
    if (wrong === undefined) tidyMetadata(schema, value)
    const pruned = this.#pruner.of(schema)(value)
    if (
      this.#rules.pruned &&
      JSON.stringify(sortedCopy(pruned)) !== JSON.stringify(sortedCopy(value))
    ) {
      errors.push(invalid(path, value, 'must not have unknown fields'))
    }
    if (wrong !== undefined) return [...errors, wrong]
    const embedded = checkEmbedded(schema, value, releaseOf(this.#rules.release), path)
    return [
      ...errors,
      ...(embedded.length > 0 ? embedded : this.#valueErrors(schema, path, isRoot)),
    ]
  }

  #metaDefault(
    schema: JsonSchema,
    path: FieldPath,
    surround: Surround,
    root: JsonSchema,
  ): FieldError[] {
    const value = schema.default as Json
    const object = surround(value)
    const refuse = (why: string) => [invalid(path, value, `must result in valid metadata: ${why}`)]
    const wrong = coerceError(root, object, FieldPath.root, this.#rules.metadataProblem)
    if (wrong !== undefined) return refuse(`${wrong.field}: ${wrong.message}`)
    const errors = checkTypeAndMeta(object, FieldPath.root, releaseOf(this.#rules.release))
    if (errors.length > 0) {
      const texts = errors.map(({ field, message }) => `${field}: ${message}`)
      return refuse(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`)
    }
    return this.#valueErrors(schema, path, schema === root)
  }

  #valueErrors(schema: JsonSchema, path: FieldPath, isRoot: boolean): FieldError[] {
    const errors: Errors = new Map()
    this.#checker.of(schema)(schema.default as Json, '', errors)
    if (errors.size === 0) return this.#rules.checkRules?.(schema, isRoot, path) ?? []
    return fieldErrors(errors, releaseOf(this.#rules.release), path)
  }
}
