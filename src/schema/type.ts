/**
 * The type graph: the fields and types of objects, as data. Built-in types come from facts, custom
 * types from structural schemas. Decoding, defaulting, protobuf, patches, apply and OpenAPI are
 * compiled from it. Types are immutable. A graph may be recursive, so the type of a field is
 * resolved on first use.
 */
import type { Json } from '#api/object-meta.ts'

/**
 * The representation of a value in JSON and protobuf. Quantities and times are canonical strings;
 * bytes are base64.
 */
export type ScalarName =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'float64'
  | 'bytes'
  | 'time' // metav1.Time: RFC 3339, whole seconds, UTC; a zero one is null
  | 'microTime' // metav1.MicroTime: six decimals
  | 'duration' // metav1.Duration: Go's "1m30s"
  | 'quantity' // resource.Quantity
  | 'intOrString'
  | 'any' // RawExtension, JSON, FieldsV1 and the like: kept as it is

export interface Scalar {
  readonly is: 'scalar'
  readonly scalar: ScalarName
  /** Go's type name of a named scalar, for messages: 'v1.RestartPolicy'. */
  readonly named?: string
  /** The enum values in OpenAPI. Other values may be valid too. */
  readonly values?: readonly string[]
}

export interface List {
  readonly is: 'list'
  readonly items: Type
  /** For apply: atomic by default (the patch strategy fallback is already folded in). */
  readonly listType: 'atomic' | 'set' | 'map'
  readonly mapKeys: readonly string[]
  /** For strategic merge patch: 'merge' and the key, or 'atomic' behaviour when absent. */
  readonly patchStrategy?: 'merge' | 'replace' | 'merge,retainKeys' | 'retainKeys'
  readonly patchMergeKey?: string
  /**
   * Protobuf wraps the list in a message, `{ repeated items = 1 }`. Such types are named Go slices:
   * ExtraValue, Verbs.
   */
  readonly wrapped?: boolean
  /** The list type has an explicit marker; it is not derived from the patch strategy. */
  readonly declared?: boolean
}

export interface Dict {
  readonly is: 'map'
  readonly values: Type
  /** Granular by default. */
  readonly atomic: boolean
  /** The schema of an object declares no members: pruning keeps only what it must preserve. */
  readonly memberless?: boolean
}

export interface Struct {
  readonly is: 'struct'
  /** The OpenAPI name, e.g. `io.k8s.api.core.v1.PodSpec`. Empty for types of custom kinds. */
  readonly name: string
  /**
   * Fields in declaration order; an inlined struct is one field with `inline` (protobuf nests it,
   * JSON does not).
   */
  readonly fields: readonly Field[]
  /**
   * All fields by JSON name, including those of inlined structs, in the order in which Go writes
   * them.
   */
  readonly byName: ReadonlyMap<string, Field>
  /** One manager owns the whole struct (x-kubernetes-map-type: atomic). */
  readonly atomic: boolean
  /** Declared as what every struct is by default (x-kubernetes-map-type: granular). */
  readonly granular?: boolean
  /**
   * Whether unknown fields are kept: custom kinds with x-kubernetes-preserve-unknown-fields or
   * without a schema.
   */
  readonly open: boolean
  /**
   * JSON has one of the members directly instead of an object (JSONSchemaPropsOrBool and similar
   * types). The fields are those of protobuf.
   */
  readonly union?: boolean
  /**
   * The discriminator field of a union (OpenAPI's x-kubernetes-unions). Empty if no field says
   * which member is set.
   */
  readonly discriminator?: string
}

export interface Field {
  /** JSON name; empty for an inlined struct. */
  readonly name: string
  /** Resolved on first use. */
  readonly type: Type
  readonly inline: boolean
  /** Protobuf field number; 0 if the type has no protobuf form. */
  readonly number: number
  /** Go's `omitempty`: a zero value is left out of JSON. */
  readonly omitEmpty: boolean
  /** Go's `omitzero`: a zero struct or time is left out of JSON too. */
  readonly omitZero?: boolean
  /** A Go pointer: absent and zero are different, and zero is written. */
  readonly pointer: boolean
  /** Named in the OpenAPI `required` list. */
  readonly required: boolean
  /** For strategic merge patch of structs and maps (e.g. retainKeys on a union). */
  readonly patchStrategy?: string
  /** Fields that are not lists may have this without effect; OpenAPI shows it. */
  readonly patchMergeKey?: string
  readonly listType?: List['listType']
  /** Declared as a granular map. Maps and structs are owned that way anyway; OpenAPI shows it. */
  readonly granular?: boolean
  /**
   * The default in the OpenAPI schema, which the key of a list map gets if an applied item omits
   * it.
   */
  readonly default?: Json
  /**
   * The schema has no default for Go's zero value. Otherwise fields that are always written have
   * that default.
   */
  readonly zeroUndeclared?: boolean
}

/**
 * A value without a declared type: custom kinds without a schema, preserved unknown fields. Maps
 * are granular, lists atomic.
 */
export interface Untyped {
  readonly is: 'untyped'
}

export type Type = Scalar | List | Dict | Struct | Untyped
