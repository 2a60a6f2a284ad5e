/**
 * Values of CEL at run time. Primitive values are JavaScript's where a type of its own exists:
 *
 *     bool → boolean    string → string    int → bigint    double → number
 *     null → null    bytes → Uint8Array
 *
 * Everything else is an instance of a class below. An error is a value too: `&&`, `||` and macros
 * absorb errors, so an exception would be the wrong tool. Only an exhausted budget is an exception.
 */

export type Value =
  | boolean
  | string
  | bigint
  | number
  | null
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | StructValue
  | OpaqueValue
  | CelError

/**
 * An unsigned integer of 64 bits. A class, because int and uint must stay apart: `1 + 1u` is an
 * error.
 */
export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/**
 * A point in time. The offset is that of the text it came from: `string(timestamp(x))` shows it
 * again.
 */
export class Timestamp {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly seconds: number
  /** 0 to 999,999,999. */
  readonly nanos: number
  readonly offsetSeconds: number
  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds
    this.nanos = nanos
    this.offsetSeconds = offsetSeconds
  }
}

/** A span of time in nanoseconds, within 64 bits as Go's time.Duration. */
export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** The value of `int`, `type(x)` and the like. Two types are equal if their names are. */
export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** `optional.of(x)` and `optional.none()`. */
export class Optional {
  static readonly none = new Optional(undefined)
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

/**
 * A failed evaluation. Not an Error of JavaScript: errors are frequent and absorbed, and need no
 * stack.
 */
export class CelError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** A list, however it is kept: elements of an expression, a view of JSON, two lists joined. */
export abstract class ListValue {
  abstract readonly size: number
  /** The element at an index that is within the list. */
  abstract at(index: number): Value
  /**
   * The list with another one after it. Lists of a schema join by their keys (see schema-lists.ts).
   */
  abstract concat(other: ListValue): Value
  /** `x in list`, where it is more than a comparison with each element. */
  containsOwn?(value: Value): boolean | CelError
  /** Why a number within the list is no index of it. */
  indexProblem?(key: Value): CelError | undefined

  *[Symbol.iterator](): Iterator<Value> {
    for (let index = 0; index < this.size; index += 1) yield this.at(index)
  }
}

/** A map, however it is kept. */
export abstract class MapValue {
  abstract readonly size: number
  /**
   * The value at a key; undefined if there is none; an error if the key can never be one of this
   * map.
   */
  abstract find(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
}

/** An instance of a struct type: `Object{spec: …}` of a mutation, `JSONPatch{op: …}`. */
export class StructValue {
  readonly typeName: string
  readonly fields: ReadonlyMap<string, Value>
  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    this.typeName = typeName
    this.fields = fields
  }
  /** The value of a field; undefined if there is none. */
  find(name: string): Value | undefined {
    return this.fields.get(name)
  }
  /** Whether a field is set. A field with a default value has a value all the same. */
  has(name: string): boolean {
    return this.fields.has(name)
  }
}

/** A value that only functions of a library can read: a quantity, a URL, an authorizer. */
export abstract class OpaqueValue {
  abstract readonly typeName: string
  /** An error if the other value has another type: only expressions of type dyn come here. */
  abstract equals(other: Value): boolean | CelError
  /** The size that cost tracking sees; 1 unless the library gives it one. */
  get size(): number {
    return 1
  }
  /** Go's `%v` of the value, where an error shows it. */
  toString(): string {
    return this.typeName
  }
}

export const isError = (value: Value): value is CelError => value instanceof CelError

const noSuchOverload = new CelError('no such overload')
/**
 * The error of an operator that has no meaning for its operands; an operand that is an error stays.
 */
export const overloadError = (value?: Value): CelError =>
  value instanceof CelError ? value : noSuchOverload

export const typeNames = {
  bool: 'bool',
  bytes: 'bytes',
  double: 'double',
  duration: 'google.protobuf.Duration',
  int: 'int',
  list: 'list',
  map: 'map',
  null: 'null_type',
  optional: 'optional_type',
  string: 'string',
  timestamp: 'google.protobuf.Timestamp',
  type: 'type',
  uint: 'uint',
} as const

/** The name of a value's type at run time, as `type(x)` and errors give it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return typeNames.bool
    case 'string':
      return typeNames.string
    case 'bigint':
      return typeNames.int
    case 'number':
      return typeNames.double
  }
  return objectTypeName(value)
}

function objectTypeName(value: Exclude<Value, boolean | string | bigint | number>): string {
  if (value === null) return typeNames.null
  if (value instanceof MapValue) return typeNames.map
  if (value instanceof ListValue) return typeNames.list
  if (value instanceof Uint) return typeNames.uint
  if (value instanceof Uint8Array) return typeNames.bytes
  if (value instanceof Timestamp) return typeNames.timestamp
  if (value instanceof Duration) return typeNames.duration
  if (value instanceof TypeValue) return typeNames.type
  if (value instanceof Optional) return typeNames.optional
  if (value instanceof CelError) return 'error'
  return value.typeName
}

/** The name of a value's type in Go, as Go's `%T` shows it. */
export function goTypeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'types.Bool'
    case 'bigint':
      return 'types.Int'
    case 'number':
      return 'types.Double'
    case 'string':
      return 'types.String'
  }
  if (value === null) return 'types.Null'
  if (value instanceof Uint) return 'types.Uint'
  if (value instanceof Uint8Array) return 'types.Bytes'
  if (value instanceof Timestamp) return 'types.Timestamp'
  if (value instanceof Duration) return 'types.Duration'
  if (value instanceof TypeValue) return '*types.Type'
  if (value instanceof Optional) return '*types.Optional'
  return value instanceof ListValue ? '*types.baseList' : '*types.baseMap'
}
