/**
 * Checks that the items of every set and keyed list in a value have unique keys. The check is
 * compiled from the type. Stored objects are otherwise valid, so types without such lists need no
 * check. Custom kinds are the exception: versions differ, and definitions change.
 */
import type { Json } from '#api/object-meta.ts'
import { isMap } from '#patch/json-map.ts'
import type { List, Struct, Type } from '#schema/type.ts'
import type { ApplyRules } from './rules.ts'
import { itemElement, NoElement } from './shape.ts'
import { liveProblems } from './validate.ts'

/** Some items have no unique key, so no field of the object can be owned. */
export class Unfit extends Error {}

/** Throws Unfit. */
type Check = (value: Json) => void

const reach = new WeakMap<Type, boolean>()

/** The check of a type; undefined if all its values pass. */
export const checkOf = (type: Type): Check | undefined => strict.of(type)

export function isFit(type: Type, value: Json, rules: ApplyRules): boolean {
  if (isCustom(type)) return liveProblems(type, value, rules) === undefined
  const checks = rules.ownsDuplicates ? lenient : strict
  try {
    checks.of(type)?.(value)
    return true
  } catch (error) {
    if (error instanceof Unfit) return false
    throw error
  }
}

/** Whether the type belongs to a custom kind: it has no name, or is not known. */
export const isCustom = (type: Type): boolean =>
  type.is === 'untyped' || (type.is === 'struct' && type.name === '')

/** Whether a value of the type may contain a set or keyed list. Types may be recursive. */
function hasListsInside(type: Type): boolean {
  const known = reach.get(type)
  if (known !== undefined) return known
  const seen = new Set<Type>()
  const look = (inside: Type): boolean => {
    if (seen.has(inside)) return false
    seen.add(inside)
    if (inside.is === 'list') return inside.listType !== 'atomic' || look(inside.items)
    if (inside.is === 'map') return look(inside.values)
    if (inside.is !== 'struct' || inside.union === true) return false
    for (const field of inside.byName.values()) if (look(field.type)) return true
    return false
  }
  const found = look(type)
  reach.set(type, found)
  return found
}

class Checks {
  readonly #compiled = new WeakMap<Type, Check | undefined>()
  readonly #allowsDuplicates: boolean

  constructor(allowsDuplicates: boolean) {
    this.#allowsDuplicates = allowsDuplicates
  }

  of(type: Type): Check | undefined {
    if (this.#compiled.has(type)) return this.#compiled.get(type)
    const check = hasListsInside(type) ? this.#compile(type) : undefined
    this.#compiled.set(type, check)
    return check
  }

  #compile(type: Type): Check {
    switch (type.is) {
      case 'list':
        return type.listType === 'atomic' ? this.#each(type.items) : this.#list(type)
      case 'map':
        return this.#values(type.values)
      case 'struct':
        return this.#members(type)
      default:
        return () => undefined
    }
  }

  #members(type: Struct): Check {
    let members: [string, Check][] | undefined
    return (value) => {
      if (value === null) return
      if (!isMap(value)) throw new Unfit()
      members ??= [...type.byName].flatMap(([name, field]) => {
        const check = this.of(field.type)
        return check === undefined ? [] : [[name, check] as [string, Check]]
      })
      for (const [name, check] of members) {
        const member = value[name]
        if (member !== undefined && Object.hasOwn(value, name)) check(member)
      }
    }
  }

  #each(items: Type): Check {
    let check: Check | undefined
    return (value) => {
      if (value === null) return
      if (!Array.isArray(value)) throw new Unfit()
      check ??= this.of(items) ?? (() => undefined)
      for (const item of value) check(item)
    }
  }

  #values(values: Type): Check {
    let check: Check | undefined
    return (value) => {
      if (value === null) return
      if (!isMap(value)) throw new Unfit()
      check ??= this.of(values) ?? (() => undefined)
      for (const name of Object.keys(value)) check(value[name] as Json)
    }
  }

  #list(list: List): Check {
    const each = this.#each(list.items)
    return (value) => {
      if (value === null) return
      if (!Array.isArray(value)) throw new Unfit()
      if (value.length === 1) elementOf(list, value[0] as Json)
      else {
        const seen = new Set<string>()
        for (const item of value) seen.add(elementOf(list, item))
        if (seen.size < value.length && !this.#allowsDuplicates) throw new Unfit()
      }
      each(value)
    }
  }
}

const strict = new Checks(false)
const lenient = new Checks(true)

function elementOf(list: List, item: Json): string {
  try {
    return itemElement(list, item)
  } catch (error) {
    throw error instanceof NoElement ? new Unfit() : error
  }
}
