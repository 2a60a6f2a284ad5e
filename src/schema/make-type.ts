/**
 * Creates types by hand, for tests and for the few types that the tables in `facts/` lack. Options
 * default to the usual case.
 */
import type { Dict, Field, List, Scalar, ScalarName, Struct, Type } from './type.ts'

const scalars = new Map<ScalarName, Scalar>()

/** One instance per scalar, so that rules compiled for it are shared. */
export function scalar(name: ScalarName): Scalar {
  let made = scalars.get(name)
  if (made === undefined) {
    made = { is: 'scalar', scalar: name }
    scalars.set(name, made)
  }
  return made
}

export const listOf = (items: Type, more: Partial<List> = {}): List => ({
  is: 'list',
  items,
  listType: 'atomic',
  mapKeys: [],
  ...more,
})

export const mapOf = (values: Type, more: Partial<Dict> = {}): Dict => ({
  is: 'map',
  values,
  atomic: false,
  ...more,
})

/**
 * Flags as in the tables in `facts/`: `o` omitempty, `p` pointer, `i` inline, `r` required, `z`
 * omitzero.
 */
export function field(name: string, type: Type | (() => Type), number: number, flags = ''): Field {
  return {
    name,
    get type() {
      return typeof type === 'function' ? type() : type
    },
    inline: flags.includes('i'),
    number,
    omitEmpty: flags.includes('o'),
    omitZero: flags.includes('z'),
    pointer: flags.includes('p'),
    required: flags.includes('r'),
  }
}

export function structOf(name: string, fields: Field[], more: Partial<Struct> = {}): Struct {
  return {
    is: 'struct',
    name,
    fields,
    get byName() {
      return lifted(fields)
    },
    atomic: false,
    open: false,
    ...more,
  }
}

/** All fields by JSON name; the fields of an inlined struct take its position. */
export function lifted(fields: readonly Field[]): Map<string, Field> {
  const byName = new Map<string, Field>()
  for (const one of fields) {
    if (!one.inline) byName.set(one.name, one)
    else if (one.type.is === 'struct')
      for (const [name, inner] of one.type.byName) byName.set(name, inner)
  }
  return byName
}
