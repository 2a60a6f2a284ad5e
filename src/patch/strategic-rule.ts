/**
 * The rule of a strategic merge patch for a member, from the type: its strategy, its merge key and
 * its type. If the type has no rule, the error has the message of Go's reflection.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import type { Field, Type } from '#schema/type.ts'
import { goType } from './go-value.ts'

/** An error of a patch. `status` says whether kube-apiserver blames the client or itself. */
export class StrategicError extends Error {
  readonly status: 400 | 422 | 500
  constructor(message: string, status: 400 | 422 | 500 = 500) {
    super(message)
    this.status = status
  }
}

export const wrongType = (expected: string, actual: Json): StrategicError =>
  new StrategicError(
    `expected a ${expected}, but received a ${actual === null ? '%!s(<nil>)' : goType(actual)}`,
  )

export interface PatchRule {
  readonly strategy: string
  readonly mergeKey: string
  /** The type of a map's values, or of a list's items. */
  readonly type: Type
}

export function mapRule(type: Type, name: string): PatchRule {
  const field = fieldOf(type, name)
  return { strategy: strategyOf(field), mergeKey: '', type: field.type }
}

export function listRule(type: Type, name: string): PatchRule {
  const field = fieldOf(type, name)
  if (field.type.is !== 'list') {
    throw new StrategicError(`expected slice or array type, but got: ${kindOf(type)}`)
  }
  const { items, patchMergeKey = '' } = field.type
  if (items.is === 'list') throw new StrategicError('unexpected slice of slice')
  return { strategy: strategyOf(field), mergeKey: patchMergeKey, type: items }
}

/** The strategy without retainKeys, which only guides clients. */
function strategyOf(field: Field): string {
  const stated =
    field.patchStrategy ?? (field.type.is === 'list' ? field.type.patchStrategy : undefined)
  if (stated === undefined) return ''
  return stated.split(',').find((strategy) => strategy !== 'retainKeys') ?? ''
}

function fieldOf(type: Type, name: string): Field {
  if (type.is === 'struct' && type.union !== true) {
    const field = type.byName.get(name) ?? caselessField(type.byName, name)
    if (field !== undefined) return field
  }
  const struct = structName(type)
  if (struct === undefined) {
    throw new StrategicError(
      `merging an object in json but data type is not struct, instead is: ${kindOf(type)}`,
    )
  }
  throw new StrategicError(
    `unable to find api field in struct ${struct} for the json field ${goQuote(name)}`,
  )
}

function caselessField(fields: ReadonlyMap<string, Field>, name: string): Field | undefined {
  const lower = name.toLowerCase()
  for (const [other, field] of fields) if (other.toLowerCase() === lower) return field
  return undefined
}

/** The Go name of a type's struct; undefined if it has none. */
function structName(type: Type): string | undefined {
  if (type.is === 'struct') return type.name.slice(type.name.lastIndexOf('.') + 1)
  if (type.is !== 'scalar') return undefined
  switch (type.scalar) {
    case 'any':
      return (type.named ?? 'RawExtension').replace(/^.*\./, '')
    case 'time':
      return 'Time'
    case 'microTime':
      return 'MicroTime'
    case 'quantity':
      return 'Quantity'
    case 'intOrString':
      return 'IntOrString'
    case 'duration':
      return 'Duration'
    default:
      return undefined
  }
}

function kindOf(type: Type): string {
  switch (type.is) {
    case 'list':
      return 'slice'
    case 'map':
      return 'map'
    case 'scalar':
      return type.scalar === 'bytes' ? 'slice' : (structName(type) && 'struct') || type.scalar
    default:
      return 'struct'
  }
}
