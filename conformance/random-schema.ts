/** Random schemas, most of them structural, and random objects that fit them, nearly fit them or do not fit at all. */
import type { Random } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas and values are JSON of any shape
type Any = any

const names = ['a', 'b', 'c', 'd', 'e']
const texts = [
  '',
  'a',
  'aaa',
  'bb',
  'x-1',
  '10.0.0.1',
  'a@b.c',
  'http://x/y',
  '2020-01-02',
  '2020-01-02T03:04:05Z',
  '1h',
  'YQ==',
  '50%',
  'ü€',
]
const formats = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uri',
  'uuid',
  'byte',
  'password',
  'int32',
  'bogus',
  'hexcolor',
  'isbn',
]
const patterns = ['^a+$', '^[a-z]*$', 'b', '^(a|b){1,3}$', '\\d']

export function randomSchema(random: Random, depth: number): Any {
  const roll = random.below(14)
  if (depth <= 0 || roll < 7) return scalarSchema(random)
  if (roll < 9) return objectSchema(random, depth)
  if (roll < 11) return arraySchema(random, depth)
  if (roll < 12) {
    const values = randomSchema(random, depth - 1)
    return {
      type: 'object',
      additionalProperties: random.chance(0.2) ? random.chance(0.5) : values,
    }
  }
  if (roll < 13)
    return {
      'x-kubernetes-preserve-unknown-fields': true,
      ...(random.chance(0.5) && { type: 'object' }),
    }
  return {
    'x-kubernetes-int-or-string': true,
    ...(random.chance(0.3) && { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
  }
}

function maybe(random: Random, probability: number, make: () => Any): Any {
  return random.chance(probability) ? make() : {}
}

function scalarSchema(random: Random): Any {
  const type = random.pick(['string', 'string', 'integer', 'number', 'boolean'])
  const schema: Any = { type, ...maybe(random, 0.15, () => ({ nullable: true })) }
  if (type === 'string') {
    Object.assign(
      schema,
      maybe(random, 0.2, () => ({ maxLength: random.below(5) })),
      maybe(random, 0.2, () => ({ minLength: random.below(3) })),
      maybe(random, 0.25, () => ({ pattern: random.pick(patterns) })),
      maybe(random, 0.3, () => ({ format: random.pick(formats) })),
      maybe(random, 0.15, () => ({ enum: ['a', 'bb', 'aaa'].slice(0, 1 + random.below(3)) })),
    )
  } else if (type !== 'boolean') {
    Object.assign(
      schema,
      maybe(random, 0.3, () => ({
        minimum: random.below(4) - 1,
        ...maybe(random, 0.3, () => ({ exclusiveMinimum: true })),
      })),
      maybe(random, 0.3, () => ({
        maximum: random.below(9) + (random.chance(0.2) ? 0.5 : 0),
        ...maybe(random, 0.3, () => ({ exclusiveMaximum: true })),
      })),
      maybe(random, 0.2, () => ({
        multipleOf: random.pick(type === 'number' ? [2, 1.5] : [2, 3]),
      })),
      maybe(random, 0.1, () => ({ enum: [1, 2, 5].slice(0, 1 + random.below(3)) })),
    )
  }
  if (random.chance(0.2)) schema.default = randomValue(random, schema, 0.05)
  return schema
}

export function objectSchema(random: Random, depth: number): Any {
  const properties: Any = {}
  const count = 1 + random.below(4)
  for (let i = 0; i < count; i++) properties[random.pick(names)] = randomSchema(random, depth - 1)
  const own = Object.keys(properties)
  const schema: Any = {
    type: 'object',
    properties,
    ...maybe(random, 0.4, () => ({ required: [random.pick([...own, 'zz'])] })),
    ...maybe(random, 0.1, () => ({ minProperties: random.below(3) })),
    ...maybe(random, 0.1, () => ({ maxProperties: 1 + random.below(3) })),
    ...maybe(random, 0.1, () => ({ 'x-kubernetes-preserve-unknown-fields': true })),
    ...maybe(random, 0.1, () => ({ nullable: true })),
    ...maybe(random, 0.1, () => ({ 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) })),
  }
  if (random.chance(0.25)) {
    const junctor = random.pick(['anyOf', 'oneOf', 'allOf'])
    const one = () => ({ required: [random.pick(own)] })
    const two = () => ({
      properties: {
        [random.pick(own)]: {
          [random.pick(['minimum', 'maximum', 'minLength'])]: 1 + random.below(2),
        },
      },
    })
    schema[junctor] = Array.from({ length: 1 + random.below(3) }, () =>
      random.chance(0.5) ? one() : two(),
    )
  }
  if (random.chance(0.1)) schema.not = { required: [random.pick(own)] }
  if (random.chance(0.1)) schema.default = randomValue(random, schema, 0)
  return schema
}

function arraySchema(random: Random, depth: number): Any {
  const items = randomSchema(random, depth - 1)
  const schema: Any = {
    type: 'array',
    items,
    ...maybe(random, 0.25, () => ({ maxItems: random.below(3) })),
    ...maybe(random, 0.2, () => ({ minItems: random.below(3) })),
  }
  if (
    ['string', 'integer', 'number', 'boolean'].includes(items.type) &&
    !items.nullable &&
    random.chance(0.3)
  ) {
    schema['x-kubernetes-list-type'] = 'set'
  } else if (items.properties && !items.nullable && random.chance(0.5)) {
    const key = Object.keys(items.properties).find(
      (name) =>
        ['string', 'integer'].includes(items.properties[name].type) &&
        !items.properties[name].nullable,
    )
    if (key !== undefined) {
      schema['x-kubernetes-list-type'] = 'map'
      schema['x-kubernetes-list-map-keys'] = [key]
      if (items.properties[key].default === undefined)
        items.required = [...new Set([...(items.required ?? []), key])]
    }
  }
  return schema
}

/** `wrong`: how likely a value is of another type than its schema says. */
export function randomValue(random: Random, schema: Any, wrong: number): Any {
  if (random.chance(wrong))
    return random.pick<Any>([null, 1, -1, 1.5, 'x', true, [], {}, [1], { z: 1 }])
  if (schema.enum && random.chance(0.6)) return random.pick(schema.enum)
  switch (schema.type) {
    case 'string':
      return random.pick(texts)
    case 'integer':
      return random.below(11) - 1
    case 'number':
      return random.chance(0.5) ? random.below(10) : random.below(20) / 2
    case 'boolean':
      return random.chance(0.5)
    case 'array': {
      const length = random.below(4)
      return Array.from({ length }, () => randomValue(random, schema.items, wrong))
    }
    case 'object':
      return randomObject(random, schema, wrong)
    default:
      return random.pick<Any>([1, 'x', '50%', { z: { y: 1 } }, [1]])
  }
}

function randomObject(random: Random, schema: Any, wrong: number): Any {
  const value: Any = {}
  for (const [name, one] of Object.entries<Any>(schema.properties ?? {})) {
    if (random.chance(0.7)) value[name] = randomValue(random, one, wrong)
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const name of ['k1', 'k2'].slice(random.below(3)))
      value[name] = randomValue(random, schema.additionalProperties, wrong)
  }
  if (wrong > 0 && random.chance(0.15)) value.extra = random.pick<Any>([1, 'x', { y: 1 }, null])
  return value
}
