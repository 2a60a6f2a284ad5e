/**
 * Random changes to an object: fields grown from its type, and damage anywhere. Changes the object
 * it is given.
 */
import type { Json } from '#api/object-meta.ts'
import type { Struct, Type } from '#schema/type.ts'
import type { Random } from './random.ts'
import { type DeclaredValues, randomValue } from './random-value.ts'

type Holder = { [key: string]: Json } | Json[]

/** Fields the server fills in, or that say what the object is. */
const leftAlone = new Set([
  'apiVersion',
  'kind',
  'status',
  'managedFields',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'generateName',
])

/** Adds or replaces a field somewhere the object already has a struct. */
export function grow(type: Struct, object: Json, random: Random, declared: DeclaredValues): void {
  const places: [Struct, { [key: string]: Json }][] = []
  collectStructs(type, object, places)
  if (places.length === 0) return
  const [struct, holder] = random.pick(places)
  const fields = [...struct.byName.values()].filter(({ name }) => !leftAlone.has(name))
  if (fields.length === 0) return
  const field = random.pick(fields)
  if (struct === type && field.name === 'metadata') return
  holder[field.name] = randomValue(field.type, field.name, random, declared)
}

function collectStructs(
  type: Type,
  value: Json,
  places: [Struct, { [key: string]: Json }][],
): void {
  if (value === null || typeof value !== 'object') return
  if (type.is === 'list' && Array.isArray(value)) {
    for (const item of value) collectStructs(type.items, item, places)
  } else if (type.is === 'map' && !Array.isArray(value)) {
    for (const item of Object.values(value)) collectStructs(type.values, item, places)
  } else if (type.is === 'struct' && type.union !== true && !Array.isArray(value)) {
    places.push([type, value])
    for (const [name, item] of Object.entries(value)) {
      const field = type.byName.get(name)
      if (field !== undefined && !leftAlone.has(name)) collectStructs(field.type, item, places)
    }
  }
}

const replacements: readonly Json[] = [
  null,
  '',
  'UPPER_case',
  'x'.repeat(300),
  -1,
  0,
  1.5,
  99999999999,
  true,
  [],
  {},
  'a',
]

/** Removes, replaces, repeats or misspells something, but not what kind of object it is. */
export function damage(object: Json, random: Random): void {
  const places: [Holder, string | number][] = []
  collectPlaces(object, places)
  if (places.length === 0) return
  const [holder, key] = random.pick(places)
  const members = holder as { [key: string | number]: Json }
  switch (random.below(5)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(key as number, 1)
      else delete members[key]
      return
    case 1:
      if (Array.isArray(holder)) holder.push(structuredClone(members[key] as Json))
      else members[`${key}x`] = members[key] as Json
      return
    default:
      members[key] = structuredClone(random.pick(replacements))
  }
}

function collectPlaces(value: Json, places: [Holder, string | number][], top = true): void {
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      places.push([value, i])
      collectPlaces(item, places, false)
    }
    return
  }
  for (const name of Object.keys(value)) {
    if (top && (leftAlone.has(name) || name === 'metadata')) {
      if (name === 'metadata') collectPlaces(value[name] as Json, places, false)
      continue
    }
    places.push([value, name])
    collectPlaces(value[name] as Json, places, false)
  }
}
