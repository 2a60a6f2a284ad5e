/**
 * Every field of a type, by its path, with every value that is tried there, and an object with one
 * of them in its place. What is missing on the way to a field is made plain. An object is never
 * changed: the changed one is another.
 */
import type { Json } from '#api/object-meta.ts'
import type { Field, Struct, Type } from '#schema/type.ts'
import { excluded, oddValues, plainValue } from './odd-values.ts'
import type { DeclaredValues } from './random-value.ts'

type Key = string | number
type Body = { [key: string]: Json }

export interface FieldChange {
  readonly path: readonly Key[]
  /** Nothing: the field is taken out. */
  readonly value: Json | undefined
}

/** Which fields are walked: by their path, list places and map keys left out. */
export type Walked = (path: string) => boolean

/** Deeper than any built-in type but those that hold themselves. */
const depthMax = 14

export function* fieldChanges(
  type: Struct,
  declared: DeclaredValues,
  walked: Walked,
): Generator<FieldChange> {
  yield* changesOf(type, declared, walked, [], new Set())
}

function* changesOf(
  struct: Struct,
  declared: DeclaredValues,
  walked: Walked,
  path: readonly Key[],
  above: ReadonlySet<Struct>,
): Generator<FieldChange> {
  if (above.has(struct) || path.length > depthMax) return
  const within = new Set([...above, struct])
  for (const field of struct.byName.values()) {
    const place = [...path, field.name]
    const name = place.filter((key) => typeof key === 'string').join('.')
    if (!walked(name)) continue
    yield { path: place, value: undefined }
    for (const value of oddValues(field, declared)) yield { path: place, value }
    const [held, more] = heldBy(field.type)
    if (held !== undefined) yield* changesOf(held, declared, walked, [...place, ...more], within)
  }
}

/** The struct that a value holds, and the place it has in it. */
function heldBy(type: Type): [Struct | undefined, Key[]] {
  if (type.is === 'struct') return [type.union === true ? undefined : type, []]
  if (type.is !== 'list' && type.is !== 'map') return [undefined, []]
  const [struct, more] = heldBy(type.is === 'list' ? type.items : type.values)
  return [struct, [type.is === 'list' ? 0 : 'a', ...more]]
}

export function changed(
  object: Body,
  type: Struct,
  { path, value }: FieldChange,
  declared: DeclaredValues,
): Body {
  const next = structuredClone(object)
  let holder: Json = next
  let of: Type = type
  for (const [i, key] of path.entries()) {
    if (of.is === 'struct') {
      const gone = path.length - 1 > i ? excluded(of, key as string) : () => false
      for (const other of Object.keys(holder as Body))
        if (gone(other)) delete (holder as Body)[other]
    }
    // What an earlier change left where a struct, list or map belongs is replaced.
    const inner: Type = innerType(of, key)
    const members = holder as { [key: Key]: Json }
    if (i === path.length - 1) {
      if (value === undefined) delete members[key]
      else members[key] = structuredClone(value)
      break
    }
    if (!isShapedAs(inner, members[key])) {
      members[key] = plainValue(
        inner,
        String(path[i - (typeof key === 'number' ? 1 : 0)]),
        declared,
      )
    }
    holder = members[key] as Json
    of = inner
  }
  return next
}

function innerType(type: Type, key: Key): Type {
  if (type.is === 'list') return type.items
  if (type.is === 'map') return type.values
  if (type.is === 'struct') return (type.byName.get(key as string) as Field).type
  throw new Error(`nothing is at ${key}`)
}

function isShapedAs(type: Type, value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) === (type.is === 'list')
}
