/**
 * The types that expressions of mutations make values of. `Object{spec: Object.spec{replicas: 3}}`
 * is an object with any fields, whose type names its place. `JSONPatch{op: 'add', path: '/a',
 * value: 1}` is one operation.
 */
import { type CelType, dynType, objectType, opaqueType, stringType } from './cel-type.ts'
import { CelError, Optional, StructValue, typeName, type Value } from './values.ts'

export const patchedObjectType = objectType('Object')
export const jsonPatchType = objectType('JSONPatch')

const isObjectName = (name: string): boolean => name === 'Object' || name.startsWith('Object.')

export const findPatchType = (name: string): CelType | undefined =>
  isObjectName(name) || name === 'JSONPatch' ? objectType(name) : undefined

/**
 * A field that JSONPatch does not have has a type without a name, as errors of kube-apiserver show
 * it.
 */
const noType = opaqueType('')

export function findPatchField(typeName: string, field: string): CelType | undefined {
  if (isObjectName(typeName)) return dynType
  if (typeName !== 'JSONPatch') return undefined
  if (field === 'value') return dynType
  return field === 'op' || field === 'path' || field === 'from' ? stringType : noType
}

/** Makes a value of one of these types. */
export function makePatchValue(type: string, fields: ReadonlyMap<string, Value>): Value {
  if (type !== 'JSONPatch') return new StructValue(type, fields)
  for (const [name, value] of fields)
    if (name !== 'value' && typeof value !== 'string')
      return new CelError(`unexpected type ${goTypeOf(value)} for JSONPatchType '${name}' field`)
  return new StructValue(type, fields)
}

const goTypes: Readonly<Record<string, string>> = {
  bool: 'bool',
  bytes: '[]uint8',
  double: 'float64',
  int: 'int64',
  null_type: 'structpb.NullValue',
  uint: 'uint64',
}

const goTypeOf = (value: Value): string =>
  value instanceof Optional ? '*types.Optional' : (goTypes[typeName(value)] ?? typeName(value))
