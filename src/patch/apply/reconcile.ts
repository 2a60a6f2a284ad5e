/**
 * Adapts a field set to a changed type. If a map or list became atomic, each manager of a part of
 * it now owns the whole. If it became granular, the parts are unknown, and the set is unchanged.
 */
import type { Dict, Type } from '#schema/type.ts'
import { type FieldSet, hasChildren, isMember, leaf } from './field-set.ts'
import { memberType } from './shape.ts'

type Building = { [element: string]: FieldSet }

export function reconcileWithType(type: Type, set: FieldSet): FieldSet {
  if (type.is === 'scalar' ? type.scalar !== 'any' : type.is === 'untyped') return set
  if (type.is === 'map' && holdsAnything(type)) return set
  let changed: Building | undefined
  for (const element of Object.keys(set)) {
    if (element === '.') continue
    const subtree = set[element] as FieldSet
    if (!hasChildren(subtree)) continue
    const child = typeBelow(type, element)
    if (child === undefined) continue
    const reconciled = isOwnedWhole(child) ? leaf : reconcileWithType(child, subtree)
    if (reconciled === subtree) continue
    changed ??= { ...set }
    changed[element] = reconciled
  }
  return changed ?? set
}

function typeBelow(type: Type, element: string): Type | undefined {
  if (type.is === 'list') return type.items
  return memberType(type, element.slice(2))
}

/**
 * As in kube-apiserver, maps of values without a declared type stay unchanged, even if the values
 * are integers or strings.
 */
const holdsAnything = ({ values }: Dict): boolean =>
  values.is === 'untyped' ||
  (values.is === 'scalar' && values.scalar === 'any' && values.named === undefined)

function isOwnedWhole(type: Type): boolean {
  switch (type.is) {
    case 'list':
      return type.listType === 'atomic'
    case 'map':
      return type.atomic && !holdsAnything(type)
    case 'struct':
      return type.atomic || type.union === true
    case 'scalar':
      return type.scalar === 'any'
    case 'untyped':
      return false
  }
}

/**
 * Adds to the set the struct fields that are on the way to its paths. Keys of maps are not added.
 */
export function withNamedFields(type: Type, set: FieldSet): FieldSet {
  if (set === leaf) return leaf
  const out: Building = {}
  for (const element of Object.keys(set)) {
    const subtree = set[element] as FieldSet
    if (element === '.' || !hasChildren(subtree)) {
      out[element] = subtree
      continue
    }
    const below = withNamedFields(childOf(type, element), subtree)
    const named =
      element.startsWith('f:') && type.is === 'struct' && type.byName.has(element.slice(2))
    out[element] = named && !isMember(below) ? { '.': leaf, ...below } : below
  }
  return out
}

const nothing: Type = { is: 'scalar', scalar: 'any' }

function childOf(type: Type, element: string): Type {
  if (element.startsWith('f:')) return memberType(type, element.slice(2)) ?? nothing
  return type.is === 'list' && element.startsWith('k:') ? type.items : nothing
}
