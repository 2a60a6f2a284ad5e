/**
 * Finds the later release that supports a field which the emulated release drops. Paths are those
 * of unknown fields:
 *
 *   CustomResourceDefinition,
 *     spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validations
 *     → since 1.23, as spec.versions[].schema.openAPIV3Schema.properties.*.x-kubernetes-validations
 */
import type { Type } from '#schema/type.ts'
import type { Facts } from './facts.ts'

export interface DroppedField {
  /** The path without indexes and keys, so that a field has a single name. */
  readonly field: string
  /** The minor version of the first release that supports the field. */
  readonly since: number
}

/** A map key may contain dots. Paths with more parts than this are not resolved. */
const keyPartsMax = 6

/** Undefined if no later release has the field. */
export function supportedLater(
  facts: Facts,
  { group, version, kind }: { group: string; version: string; kind: string },
  path: string,
  later: readonly number[],
): DroppedField | undefined {
  const name = facts.openApiNameOf(group, version, kind)
  if (name === undefined) return undefined
  const segments = path.replaceAll(/\[\d+\]/g, '.[]').split('.')
  for (const since of later) {
    if (!facts.isType(name, since)) continue
    const field = fieldNamed(facts.typeOf(name, since), segments)
    if (field !== undefined) return { field, since }
  }
  return undefined
}

/** The name of the field at this path. Undefined if the type does not declare it. */
function fieldNamed(type: Type, segments: readonly string[]): string | undefined {
  const [first, ...rest] = segments
  if (first === undefined) return ''
  switch (type.is) {
    case 'struct': {
      if (type.union)
        return unionField(
          type.fields.map((field) => field.type),
          segments,
        )
      const field = type.byName.get(first)
      return field && joined(first, fieldNamed(field.type, rest))
    }
    case 'list':
      return first === '[]' ? joined('[]', fieldNamed(type.items, rest)) : undefined
    case 'map':
      for (let length = 1; length <= Math.min(keyPartsMax, segments.length - 1); length++) {
        const below = fieldNamed(type.values, segments.slice(length))
        if (below !== undefined) return joined('*', below)
      }
      return segments.length === 1 ? '*' : undefined
    default:
      return undefined
  }
}

function unionField(types: readonly Type[], segments: readonly string[]): string | undefined {
  for (const type of types) {
    const found = fieldNamed(type, segments)
    if (found !== undefined) return found
  }
  return undefined
}

function joined(head: string, tail: string | undefined): string | undefined {
  if (tail === undefined || tail === '') return tail === undefined ? undefined : head
  return tail.startsWith('[]') ? head + tail : `${head}.${tail}`
}
