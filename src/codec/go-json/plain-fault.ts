/**
 * The error message of Go's encoding/json for a value that does not fit a type: the first mismatch.
 * Types with their own UnmarshalJSON produce their own message.
 */
import type { Json } from '#api/object-meta.ts'
import type { Struct, Type } from '#schema/type.ts'
import { base64Fault } from './base64-fault.ts'
import { goTypeName } from './go-name.ts'
import { memberName } from './repeated-members.ts'
import { jsonKind, textFault } from './text-fault.ts'

/** The position of a value: its struct, and the fields that lead to it. */
interface Place {
  readonly struct: string
  /** The full name of the type that declares the field. */
  readonly owner: string
  readonly fields: readonly string[]
}

/** How the decoder of typed objects differs from encoding/json. */
export interface FaultStyle {
  /** Whether paths contain embedded structs, as in `livenessProbe.ProbeHandler.httpGet`. */
  readonly namesEmbedded: boolean
}

export function plainFault(
  type: Type,
  value: Json,
  place?: Place,
  style?: FaultStyle,
): string | undefined {
  if (value === null || type.is === 'untyped') return undefined
  const misfit = (found = jsonKind(value)) => {
    return `json: cannot unmarshal ${found} into Go ${whereOf(place)} of type ${typeNameAt(type, place, style)}`
  }
  if (type.is === 'struct' && type.union === true) return unionFault(type, JSON.stringify(value))
  if (type.is === 'scalar') {
    if (style && isOutOfRange(type.scalar, value)) return misfit(`number ${value}`)
    if (isPlain(type.scalar)) return scalarFault(type.scalar, value, misfit)
    const fault = textFault(type, JSON.stringify(value))
    return style && place
      ? fault?.replace('into Go value of', `into Go ${whereOf(place)} of`)
      : fault
  }
  if (type.is === 'list') {
    if (!Array.isArray(value)) return misfit()
    return firstOf(value, (item) => plainFault(type.items, item, place, style))
  }
  if (typeof value !== 'object' || Array.isArray(value)) return misfit()
  if (type.is === 'map') {
    return firstOf(Object.values(value), (item) => plainFault(type.values, item, place, style))
  }
  return firstOf(Object.keys(value), (written) => {
    const name = memberName(written)
    const field = type.byName.get(name)
    if (field === undefined) return undefined
    const { namesEmbedded = false } = style ?? {}
    const embedded = namesEmbedded ? embeddedOf(type, name) : []
    const fields = [...(place?.fields ?? []), ...embedded, name]
    const owner = style && !namesEmbedded ? ownerOf(type, name) : type.name
    const struct = owner.split('.').pop() as string
    return plainFault(
      field.type,
      value[written] as Json,
      { struct, owner: type.name, fields },
      style,
    )
  })
}

/**
 * Go has a name for the maps of quantities, ResourceList, and in the group of devices one for the
 * keys of attributes and capacities.
 */
function typeNameAt(type: Type, place: Place | undefined, style: FaultStyle | undefined): string {
  const name = goTypeName(type)
  if (type.is !== 'map' || place === undefined || style === undefined) return name
  const version = /\.api\.resource\.(\w+)\./.exec(place.owner)?.[1]
  const isAmounts = type.values.is === 'scalar' && type.values.scalar === 'quantity'
  if (version === undefined) return isAmounts ? 'v1.ResourceList' : name
  if (!isAmounts && !qualified.has(place.fields.at(-1) ?? '')) return name
  return name.replace('map[string]', `map[${version}.QualifiedName]`)
}

const qualified = new Set(['attributes', 'capacity'])

const whereOf = (place: Place | undefined): string =>
  place === undefined ? 'value' : `struct field ${place.struct}.${place.fields.join('.')}`

const isOutOfRange = (scalar: string, value: Json | bigint): boolean =>
  scalar === 'int32' &&
  typeof value === 'number' &&
  Number.isInteger(value) &&
  value !== (value | 0)

/** The struct that declares a field: the struct itself or one embedded in it. */
function ownerOf(struct: Struct, name: string): string {
  const inlined = inlinedWith(struct, name)
  return inlined === undefined ? struct.name : ownerOf(inlined, name)
}

/** The Go names of the embedded structs that lead to a field. */
function embeddedOf(struct: Struct, name: string): string[] {
  const inlined = inlinedWith(struct, name)
  if (inlined === undefined) return []
  return [inlined.name.split('.').pop() as string, ...embeddedOf(inlined, name)]
}

function inlinedWith({ fields }: Struct, name: string): Struct | undefined {
  for (const { inline, type } of fields)
    if (inline && type.is === 'struct' && type.byName.has(name)) return type
  return undefined
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

const int32Max = 2 ** 31

const fits = (scalar: string, value: number): boolean =>
  Number.isInteger(value) && (scalar !== 'int32' || (value >= -int32Max && value < int32Max))

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
      if (typeof value === 'number' && !fits(scalar, value)) return misfit(`number ${value}`)
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : misfit()
  }
}

/** A schema that may also be a boolean or a list is recognised by its first character. */
export function unionFault(struct: Struct, text: string): string | undefined {
  const first = text[0]
  const member = (is: 'struct' | 'list') => struct.fields.find(({ type }) => type.is === is)?.type
  const type = first === '{' ? member('struct') : first === '[' ? member('list') : undefined
  if (type !== undefined) return plainFault(type, JSON.parse(text) as Json)
  const takesBooleans = struct.fields.some(({ type }) => type.is === 'scalar')
  if (!takesBooleans || text === 'true' || text === 'false') return undefined
  return 'boolean or JSON schema expected'
}
