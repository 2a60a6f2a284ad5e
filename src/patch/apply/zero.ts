/**
 * The JSON of an unset Go value: kube-apiserver compares a new object with it, so that `status: {}`
 * and `creationTimestamp: null` have no owner. Fields with omitempty are omitted.
 */
import type { Json } from '#api/object-meta.ts'
import { type JsonMap, setMember } from '#patch/json-map.ts'
import type { Field, Scalar, Struct, Type } from '#schema/type.ts'

const zeros = new WeakMap<Struct, JsonMap>()

/** The zero value of a type; undefined if Go omits it from JSON. */
export function zeroOf(type: Type): JsonMap | undefined {
  return type.is === 'struct' && type.union !== true ? zeroStruct(type) : undefined
}

function zeroStruct(struct: Struct): JsonMap {
  let zero = zeros.get(struct)
  if (zero !== undefined) return zero
  zero = {}
  for (const [name, field] of struct.byName) {
    const value = zeroField(field)
    if (value !== undefined) setMember(zero, name, value)
  }
  zeros.set(struct, zero)
  return zero
}

/** Undefined if the field is omitted. */
export function zeroField(field: Field): Json | undefined {
  const leftOut = field.omitEmpty ? undefined : null
  if (field.pointer) return leftOut
  if (field.omitZero === true) return undefined
  switch (field.type.is) {
    case 'struct':
      return field.type.union === true ? null : zeroStruct(field.type)
    case 'scalar':
      return zeroScalar(field.type, field.omitEmpty)
    case 'untyped':
      return undefined
    default:
      return leftOut
  }
}

/** Times, quantities and similar types are structs in Go, which omitempty never omits. */
function zeroScalar({ scalar }: Scalar, omitEmpty: boolean): Json | undefined {
  switch (scalar) {
    case 'time':
    case 'microTime':
    case 'any':
      return null
    case 'quantity':
      return '0'
    case 'intOrString':
      return 0
    case 'duration':
      return '0s'
    case 'string':
      return omitEmpty ? undefined : ''
    case 'bool':
      return omitEmpty ? undefined : false
    case 'bytes':
      return omitEmpty ? undefined : null
    default:
      return omitEmpty ? undefined : 0
  }
}
