/**
 * What Go's own JSON package says of a value that does not fit a type: the first misfit of the
 * value, by the names of JSON and of Go. Where the types read their own JSON, that is theirs to
 * say.
 */
import type { Json } from '#api/object-meta.ts'
import type { Struct, Type } from '#schema/type.ts'
import { base64Fault } from './base64-fault.ts'
import { goTypeName } from './go-name.ts'
import { jsonKind, textFault } from './text-fault.ts'

/** Where a value stands: the struct at work and the fields on the way to it. */
interface Place {
  readonly struct: string
  readonly fields: readonly string[]
}

export function plainFault(type: Type, value: Json, place?: Place): string | undefined {
  if (value === null || type.is === 'untyped') return undefined
  const misfit = (found = jsonKind(value)) => {
    const where =
      place === undefined ? 'value' : `struct field ${place.struct}.${place.fields.join('.')}`
    return `json: cannot unmarshal ${found} into Go ${where} of type ${goTypeName(type)}`
  }
  if (type.is === 'struct' && type.union === true) return unionFault(type, JSON.stringify(value))
  if (type.is === 'scalar') {
    if (isPlain(type.scalar)) return scalarFault(type.scalar, value, misfit)
    return textFault(type, JSON.stringify(value))
  }
  if (type.is === 'list') {
    if (!Array.isArray(value)) return misfit()
    return firstOf(value, (item) => plainFault(type.items, item, place))
  }
  if (typeof value !== 'object' || Array.isArray(value)) return misfit()
  if (type.is === 'map') {
    return firstOf(Object.values(value), (item) => plainFault(type.values, item, place))
  }
  return firstOf(Object.keys(value), (name) => {
    const field = type.byName.get(name)
    if (field === undefined) return undefined
    const fields = [...(place?.fields ?? []), name]
    const struct = type.name.split('.').pop() as string
    return plainFault(field.type, value[name] as Json, { struct, fields })
  })
}

function firstOf<Item>(
  items: readonly Item[],
  faultOf: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const fault = faultOf(item)
    if (fault !== undefined) return fault
  }
  return undefined
}

const plainScalars = new Set<string>(['string', 'bool', 'int32', 'int64', 'float64', 'bytes'])
const isPlain = (scalar: string): boolean => plainScalars.has(scalar)

function scalarFault(
  scalar: string,
  value: Json | bigint,
  misfit: (found?: string) => string,
): string | undefined {
  switch (scalar) {
    case 'string':
      return typeof value === 'string' ? undefined : misfit()
    case 'bool':
      return typeof value === 'boolean' ? undefined : misfit()
    case 'bytes':
      return typeof value === 'string' ? base64Fault(value) : misfit()
    case 'float64':
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : misfit()
    default:
      if (typeof value === 'number' && !Number.isInteger(value)) return misfit(`number ${value}`)
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : misfit()
  }
}

/** A schema that may be a boolean or a list is recognised by its first letter. */
export function unionFault(struct: Struct, text: string): string | undefined {
  const first = text[0]
  const member = (is: 'struct' | 'list') => struct.fields.find(({ type }) => type.is === is)?.type
  const type = first === '{' ? member('struct') : first === '[' ? member('list') : undefined
  if (type !== undefined) return plainFault(type, JSON.parse(text) as Json)
  const takesBooleans = struct.fields.some(({ type }) => type.is === 'scalar')
  if (!takesBooleans || text === 'true' || text === 'false') return undefined
  return 'boolean or JSON schema expected'
}
