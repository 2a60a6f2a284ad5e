/**
 * Custom kinds made to be owned: every marker of lists and maps, keys with defaults, structures
 * that anything may be in, and values of so few choices that managers meet. What a schema forbids
 * beside types is left to others.
 */
import type { Json } from '#api/object-meta.ts'
import type { Random } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas are JSON of any shape
type Any = any
type Body = { [name: string]: Json }

const names = ['a', 'b', 'c', 'd']
const text = { type: 'string' }
const number = { type: 'integer' }

function scalar(random: Random): Any {
  return random.pick<() => Any>([
    () => ({ ...text }),
    () => ({ ...text, default: 'z' }),
    () => ({ ...number }),
    () => ({ ...number, default: 3 }),
    () => ({ type: 'number' }),
    () => ({ type: 'boolean' }),
    () => ({ ...text, nullable: true }),
    () => ({ 'x-kubernetes-int-or-string': true }),
  ])()
}

function struct(random: Random, depth: number): Any {
  const properties: Any = {}
  for (let i = 1 + random.below(4); i > 0; i--)
    properties[random.pick(names)] = ownedSchema(random, depth - 1)
  return {
    type: 'object',
    properties,
    ...(random.chance(0.15) && { 'x-kubernetes-preserve-unknown-fields': true }),
    ...(random.chance(0.2) && { 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) }),
    ...(random.chance(0.1) && { nullable: true }),
    ...(random.chance(0.1) && { default: {} }),
  }
}

/** A list whose items are identified by one key or two, of which one may be left out. */
function keyed(random: Random, depth: number): Any {
  const items = struct(random, depth)
  const keys: Any = { k: { ...random.pick([text, number]) } }
  if (random.chance(0.4)) keys.l = { ...text, ...(random.chance(0.7) && { default: 'l' }) }
  Object.assign(items.properties, keys)
  items.required = Object.keys(keys).filter((key) => keys[key].default === undefined)
  for (const name of ['nullable', 'default']) delete items[name]
  return {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': Object.keys(keys),
  }
}

export function ownedSchema(random: Random, depth: number): Any {
  if (depth <= 0) return scalar(random)
  return random.pick<() => Any>([
    () => scalar(random),
    () => struct(random, depth),
    () => struct(random, depth),
    () => keyed(random, depth - 1),
    () => keyed(random, depth - 1),
    () => ({
      type: 'array',
      items: random.pick([text, number]),
      'x-kubernetes-list-type': 'set',
    }),
    () => ({
      type: 'array',
      items: ownedSchema(random, depth - 1),
      ...(random.chance(0.4) && { 'x-kubernetes-list-type': 'atomic' }),
    }),
    () => ({
      type: 'object',
      additionalProperties: ownedSchema(random, depth - 1),
      ...(random.chance(0.3) && { 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) }),
    }),
    () => ({ 'x-kubernetes-preserve-unknown-fields': true, type: 'object' }),
    () => ({ 'x-kubernetes-preserve-unknown-fields': true }),
  ])()
}

export const ownedKind = (random: Random): Any => ({
  type: 'object',
  properties: { spec: struct(random, 3), status: struct(random, 2) },
  ...(random.chance(0.1) && { 'x-kubernetes-preserve-unknown-fields': true }),
})

/**
 * The schema with one of its markers, somewhere, another: what was owned item by item is owned
 * whole, or the other way.
 */
export function turned(schema: Any, random: Random): Any {
  const places: Any[] = []
  const look = (one: Any): void => {
    if (one === null || typeof one !== 'object') return
    if (one.type === 'array' || one.properties || one.additionalProperties) places.push(one)
    for (const value of Object.values(one)) look(value)
  }
  const copy = structuredClone(schema)
  for (const inner of Object.values(copy.properties)) look(inner)
  const place = random.pick(places)
  if (place.type !== 'array') {
    const isAtomic = place['x-kubernetes-map-type'] === 'atomic'
    place['x-kubernetes-map-type'] = isAtomic ? 'granular' : 'atomic'
  } else if (
    place['x-kubernetes-list-type'] === 'map' ||
    place['x-kubernetes-list-type'] === 'set'
  ) {
    place['x-kubernetes-list-type'] = 'atomic'
    delete place['x-kubernetes-list-map-keys']
  } else if (['string', 'integer'].includes(place.items.type) && !place.items.nullable) {
    place['x-kubernetes-list-type'] = 'set'
  }
  return copy
}

/** A value of the schema, most of it left out; `wrong` is how likely a part is something else. */
export function ownedValue(schema: Any, random: Random, wrong = 0): Json {
  if (wrong > 0 && random.chance(wrong)) return structuredClone(random.pick<Json>(wrongs))
  if (schema.nullable && random.chance(0.2)) return null
  switch (schema.type) {
    case 'string':
      return random.pick(['x', 'y'])
    case 'integer':
      return random.pick([1, 2])
    case 'number':
      return random.pick([1, 2, 1.5])
    case 'boolean':
      return random.chance(0.5)
    case 'array':
      return Array.from({ length: random.below(4) }, () => ownedValue(schema.items, random, wrong))
    case 'object':
      return ownedMembers(schema, random, wrong)
    default:
      return schema['x-kubernetes-int-or-string']
        ? random.pick<Json>([1, 'x', '50%'])
        : structuredClone(random.pick<Json>(anything))
  }
}

const wrongs: readonly Json[] = [null, 1, 'x', true, [], {}, [null], { z: null }, [{}]]
const anything: readonly Json[] = [1, 'x', { a: 1 }, { b: { c: [1] } }, { b: {} }, [1], null, {}]

function ownedMembers(schema: Any, random: Random, wrong: number): Body {
  const value: Body = {}
  for (const [name, inner] of Object.entries<Any>(schema.properties ?? {})) {
    const likely = schema.required?.includes(name) ? 0.98 : 0.5
    if (random.chance(likely)) value[name] = ownedValue(inner, random, wrong)
  }
  const others = schema.additionalProperties
  if (others !== undefined) {
    for (const name of names)
      if (random.chance(0.3)) value[name] = ownedValue(others, random, wrong)
  }
  if (schema['x-kubernetes-preserve-unknown-fields']) {
    for (const name of names)
      if (random.chance(0.2)) value[name] ??= structuredClone(random.pick<Json>(anything))
  }
  return value
}
