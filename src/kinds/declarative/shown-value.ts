/**
 * A value of a type as Go's JSON shows it in a message: fields in the order of their declaration,
 * keys of maps sorted.
 */
import { asGo, goJson, type GoText, namesInOrder } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { Type } from '#schema/type.ts'

export const shownValue = (value: Loose, type: Type): Loose | GoText =>
  typeof value === 'object' && value !== null ? asGo('', jsonOf(value, type)) : value

function jsonOf(value: Loose, type: Type): string {
  if (typeof value !== 'object' || value === null) return goJson(value)
  if (type.is === 'list') {
    return `[${(value as Loose[]).map((item) => jsonOf(item, type.items)).join(',')}]`
  }
  if (type.is === 'map') return members(value, namesInOrder(value), () => type.values)
  if (type.is !== 'struct') return goJson(value)
  return members(value, [...type.byName.keys()], (name) => type.byName.get(name)?.type)
}

function members(
  value: Loose,
  names: readonly string[],
  typeOf: (name: string) => Type | undefined,
): string {
  const parts = names.flatMap((name) => {
    const member = ownValue(value, name)
    const type = typeOf(name)
    return member === undefined || type === undefined
      ? []
      : [`${goJson(name)}:${jsonOf(member, type)}`]
  })
  return `{${parts.join(',')}}`
}
