/**
 * The schema of a definition: OpenAPI v3 with Kubernetes' extensions, in the canonical form of
 * stored definitions. Schemas are immutable. Compiled results are cached by the identity of the
 * schema.
 */
import type { Json } from '#api/object-meta.ts'

export interface JsonSchema {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: Json
  readonly nullable?: boolean
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
  readonly enum?: readonly Json[]
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly required?: readonly string[]
  readonly items?: JsonSchema | readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly not?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly dependencies?: Readonly<Record<string, JsonSchema | readonly string[]>>
  readonly additionalItems?: JsonSchema | boolean
  readonly definitions?: Readonly<Record<string, JsonSchema>>
  readonly externalDocs?: Json
  readonly example?: Json
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A CEL rule for the values of a schema. */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

export const rulesOf = (schema: JsonSchema): readonly ValidationRule[] =>
  schema['x-kubernetes-validations'] ?? []

export const preserves = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true
export const isEmbedded = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-embedded-resource'] === true
export const isIntOrString = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-int-or-string'] === true
export const listTypeOf = (schema: JsonSchema): string | undefined =>
  schema['x-kubernetes-list-type']
export const mapKeysOf = (schema: JsonSchema): readonly string[] =>
  schema['x-kubernetes-list-map-keys'] ?? []
export const mapTypeOf = (schema: JsonSchema): string | undefined => schema['x-kubernetes-map-type']

/** The schema of list items. A list of schemas, one per index, is not structural and is ignored. */
export const itemsOf = ({ items }: JsonSchema): JsonSchema | undefined =>
  items === undefined || items === null || Array.isArray(items) ? undefined : (items as JsonSchema)

/** The schema of values with unnamed keys. Undefined if all or none are allowed. */
export const valuesOf = ({ additionalProperties }: JsonSchema): JsonSchema | undefined =>
  typeof additionalProperties === 'object' && additionalProperties !== null
    ? additionalProperties
    : undefined

export const hasAdditional = ({ additionalProperties }: JsonSchema): boolean =>
  additionalProperties !== undefined && additionalProperties !== null

/** Named properties. Users choose the names, so only own keys are read. */
export const propertiesOf = ({ properties }: JsonSchema): [string, JsonSchema][] =>
  Object.entries(properties ?? {})

export const propertyOf = (schema: JsonSchema, name: string): JsonSchema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined

/** Fields of every object, including embedded ones. */
export const isMetaField = (name: string): boolean =>
  name === 'apiVersion' || name === 'kind' || name === 'metadata'

export const hasDefault = (schema: JsonSchema): boolean =>
  schema.default !== undefined && schema.default !== null
