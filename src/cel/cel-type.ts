/**
 * Types of CEL expressions as the checker sees them: `int`, `list(string)`, `map(string, dyn)`,
 * `kubernetes.Quantity`, `optional_type(int)`, the type parameter `A`, the wrapper `wrapper(int)`.
 * A type is a plain value; an object type has only a name, and a TypeProvider knows its fields.
 */

export type CelKind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'param'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'uint'

export interface CelType {
  readonly kind: CelKind
  /**
   * The name at run time, without parameters: `list`, `google.protobuf.Duration`,
   * `kubernetes.Quantity`.
   */
  readonly name: string
  readonly parameters: readonly CelType[]
  /** A wrapper of a primitive type also admits null. */
  readonly nullable: boolean
}

const noParameters: readonly CelType[] = []

const simple = (kind: CelKind, name: string): CelType => ({
  kind,
  name,
  parameters: noParameters,
  nullable: false,
})

export const anyType = simple('any', 'google.protobuf.Any')
export const boolType = simple('bool', 'bool')
export const bytesType = simple('bytes', 'bytes')
export const doubleType = simple('double', 'double')
export const durationType = simple('duration', 'google.protobuf.Duration')
export const dynType = simple('dyn', 'dyn')
export const errorType = simple('error', 'error')
export const intType = simple('int', 'int')
export const nullType = simple('null', 'null_type')
export const stringType = simple('string', 'string')
export const timestampType = simple('timestamp', 'google.protobuf.Timestamp')
export const typeType = simple('type', 'type')
export const uintType = simple('uint', 'uint')

export const listOf = (element: CelType): CelType => ({
  kind: 'list',
  name: 'list',
  parameters: [element],
  nullable: false,
})

export const mapOf = (key: CelType, value: CelType): CelType => ({
  kind: 'map',
  name: 'map',
  parameters: [key, value],
  nullable: false,
})

/** The type of a type: `type(int)` is what the expression `int` has. */
export const typeOf = (type: CelType): CelType => ({
  kind: 'type',
  name: 'type',
  parameters: [type],
  nullable: false,
})

/** A type without fields that only functions can read, such as `net.IP`. */
export const opaqueType = (name: string, ...parameters: CelType[]): CelType => ({
  kind: 'opaque',
  name,
  parameters,
  nullable: false,
})

export const optionalOf = (type: CelType): CelType => opaqueType('optional_type', type)

export const typeParam = (name: string): CelType => simple('param', name)

export const wrapperOf = (type: CelType): CelType => ({ ...type, nullable: true })

/** Messages of protobuf that CEL treats as its own types. */
const wellKnown: ReadonlyMap<string, CelType> = new Map([
  ['google.protobuf.BoolValue', wrapperOf(boolType)],
  ['google.protobuf.BytesValue', wrapperOf(bytesType)],
  ['google.protobuf.DoubleValue', wrapperOf(doubleType)],
  ['google.protobuf.FloatValue', wrapperOf(doubleType)],
  ['google.protobuf.Int64Value', wrapperOf(intType)],
  ['google.protobuf.Int32Value', wrapperOf(intType)],
  ['google.protobuf.UInt64Value', wrapperOf(uintType)],
  ['google.protobuf.UInt32Value', wrapperOf(uintType)],
  ['google.protobuf.StringValue', wrapperOf(stringType)],
  ['google.protobuf.Any', anyType],
  ['google.protobuf.Duration', durationType],
  ['google.protobuf.Timestamp', timestampType],
  ['google.protobuf.ListValue', listOf(dynType)],
  ['google.protobuf.NullValue', nullType],
  ['google.protobuf.Struct', mapOf(stringType, dynType)],
  ['google.protobuf.Value', dynType],
])

export const objectType = (name: string): CelType => wellKnown.get(name) ?? simple('struct', name)

/** Dyn in any way: at check time every type can be assigned to it. */
const isDynamic = ({ kind }: CelType): boolean =>
  kind === 'dyn' || kind === 'any' || kind === 'param'

/** The same type, names of type parameters included. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    a.parameters.length === b.parameters.length &&
    a.parameters.every((parameter, at) => isSameType(parameter, b.parameters[at]!))
  )
}

/**
 * Whether a value of `from` may stand where `to` is expected, with no type parameters to resolve.
 */
export function isAssignableTo(to: CelType, from: CelType): boolean {
  if (to.nullable && isAssignableTo(nullType, from)) return true
  if (to === from || isDynamic(to)) return true
  return (
    to.kind === from.kind &&
    to.name === from.name &&
    to.parameters.length === from.parameters.length &&
    to.parameters.every((parameter, at) => isAssignableTo(parameter, from.parameters[at]!))
  )
}

/** The name that a declaration of the type has: `wrapper(int)`, `google.protobuf.Duration`. */
const declaredName = ({ name, nullable }: CelType): string => (nullable ? `wrapper(${name})` : name)

/** A type as errors of the checker show it: `duration`, `null`, `map(string, dyn)`. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'any':
      return 'any'
    case 'duration':
      return 'duration'
    case 'timestamp':
      return 'timestamp'
    case 'error':
      return '!error!'
    case 'null':
      return 'null'
    case 'param':
      return type.name
  }
  if (type.parameters.length === 0) return declaredName(type)
  return `${type.name}(${type.parameters.map(formatType).join(', ')})`
}

/**
 * A type as errors of Kubernetes show it, for example where a rule is not boolean:
 * `google.protobuf.Duration`, `<A>`, `map(string, dyn)`.
 */
export function typeText(type: CelType): string {
  if (type.kind === 'param') return `<${type.name}>`
  if (type.parameters.length === 0) return declaredName(type)
  return `${declaredName(type)}(${type.parameters.map(typeText).join(', ')})`
}

/**
 * Knows the fields of object types. Types of CRD schemas and of Kubernetes' objects come from one.
 */
export interface TypeProvider {
  /** The type with this qualified name, as an expression can write it. */
  findType(name: string): CelType | undefined
  /**
   * The type of a field of an object type. Field names are those that expressions use (escaped).
   */
  findField(typeName: string, field: string): CelType | undefined
  /** The value of a qualified enum constant. */
  findEnum?(name: string): bigint | undefined
}

export interface Overload {
  /**
   * cel-go's id of the overload, for example `string_to_int64`. Implementations and costs are kept
   * by it.
   */
  readonly id: string
  /** True for `target.name(args)`; the target is the first of `params`. */
  readonly member: boolean
  readonly params: readonly CelType[]
  readonly result: CelType
}

export interface FunctionDeclaration {
  /** `size`, `_+_`, `ip.isCanonical` */
  readonly name: string
  readonly overloads: readonly Overload[]
}

/** Shorthands for tables of declarations. */
export const overload = (id: string, params: readonly CelType[], result: CelType): Overload => ({
  id,
  member: false,
  params,
  result,
})

export const member = (id: string, params: readonly CelType[], result: CelType): Overload => ({
  id,
  member: true,
  params,
  result,
})

export const declare = (name: string, ...overloads: Overload[]): FunctionDeclaration => ({
  name,
  overloads,
})
