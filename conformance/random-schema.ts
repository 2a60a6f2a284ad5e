/**
 * Random schemas, most of them structural, and random objects that fit them, nearly fit them or do
 * not fit at all.
 */
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
  'A B',
  'toolongvalue',
  '10.0.0.1',
  '::1',
  '10.0.0.0/8',
  'a@b.c',
  'http://x/y',
  '2020-01-02',
  '2020-01-02T03:04:05Z',
  '1h',
  '1h30m',
  'YQ==',
  '50%',
  'ü€',
  '00:00:5e:00:53:01',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  '#fff',
  'rgb(1,2,3)',
  '978-0596520687',
  '4012888888881881',
  '123-45-6789',
]
const formats = {
  string: [
    'bsonobjectid',
    'uri',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'cidr',
    'mac',
    'uuid',
    'uuid3',
    'uuid4',
    'uuid5',
    'isbn',
    'isbn10',
    'isbn13',
    'creditcard',
    'ssn',
    'hexcolor',
    'rgbcolor',
    'byte',
    'password',
    'date',
    'duration',
    'date-time',
    'datetime',
    'int32',
    'bogus',
  ],
  integer: ['int32', 'int64', 'float', 'uint32', 'bogus'],
  number: ['float', 'double', 'int32', 'int64', 'bogus'],
} as const
const patterns = ['^a+$', '^[a-z]*$', 'b', '^(a|b){1,3}$', '\\d', 'y$', '^x']
const numbers = [0, 1, 2, 3, 5, 7, 10, 11, -1, -3, 2147483648, 4294967296, -2147483649]
const fractions = [1.5, 2.5, 10.5, 0.1, -0.5, 3.4e39, 1e21, 1e-7, 9007199254740992]

export function randomSchema(random: Random, depth: number): Any {
  const roll = random.below(15)
  if (depth <= 0 || roll < 7) return scalarSchema(random)
  if (roll < 9) return objectSchema(random, depth)
  if (roll < 11) return arraySchema(random, depth)
  if (roll < 12) return mapSchema(random, depth)
  if (roll < 13) {
    return {
      'x-kubernetes-preserve-unknown-fields': true,
      ...(random.chance(0.5) && { type: 'object' }),
    }
  }
  if (roll < 14) {
    return {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      ...(random.chance(0.7)
        ? { 'x-kubernetes-preserve-unknown-fields': true }
        : { properties: { spec: randomSchema(random, depth - 1) } }),
    }
  }
  return {
    'x-kubernetes-int-or-string': true,
    ...(random.chance(0.3) && { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    ...(random.chance(0.2) && { pattern: random.pick(patterns) }),
    ...(random.chance(0.2) && { maximum: 3 }),
  }
}

function mapSchema(random: Random, depth: number): Any {
  const values = randomSchema(random, depth - 1)
  return {
    type: 'object',
    additionalProperties: random.chance(0.2) ? random.chance(0.5) : values,
    ...maybe(random, 0.2, () => ({ maxProperties: random.below(3) })),
    ...maybe(random, 0.1, () => ({ 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) })),
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
      maybe(random, 0.3, () => ({ format: random.pick(formats.string) })),
      maybe(random, 0.15, () => ({ enum: ['a', 'bb', 'aaa'].slice(0, 1 + random.below(3)) })),
    )
  } else if (type !== 'boolean') {
    Object.assign(
      schema,
      maybe(random, 0.3, () => ({ format: random.pick(formats[type as 'integer']) })),
      maybe(random, 0.3, () => ({
        minimum: random.below(4) - 1,
        ...maybe(random, 0.3, () => ({ exclusiveMinimum: true })),
      })),
      maybe(random, 0.3, () => ({
        maximum: random.below(9) + (random.chance(0.2) ? 0.5 : 0),
        ...maybe(random, 0.3, () => ({ exclusiveMaximum: true })),
      })),
      maybe(random, 0.2, () => ({
        // With less than one kube-apiserver divides by zero, and panics.
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
    schema[junctor] = Array.from({ length: 1 + random.below(3) }, () => branch(random, own))
  }
  if (random.chance(0.1)) schema.not = branch(random, own)
  if (random.chance(0.1)) schema.default = randomValue(random, schema, 0)
  return schema
}

/** What a junctor may say: it checks values, and describes no structure. */
function branch(random: Random, own: readonly string[], depth = 1): Any {
  const name = random.pick(own)
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
    case 1:
      return { required: [name] }
    case 2:
      return {
        properties: { [name]: { [random.pick(['minimum', 'maximum', 'minLength'])]: 1 } },
      }
    case 3:
      return { properties: { [name]: { enum: [random.pick<Any>(['a', 1, true])] } } }
    case 4:
      return { not: branch(random, own, depth - 1) }
    default:
      return { allOf: [branch(random, own, depth - 1), branch(random, own, depth - 1)] }
  }
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
    const keys = Object.keys(items.properties).filter(
      (name) =>
        ['string', 'integer'].includes(items.properties[name].type) &&
        !items.properties[name].nullable,
    )
    if (keys.length > 0) {
      schema['x-kubernetes-list-type'] = 'map'
      schema['x-kubernetes-list-map-keys'] = keys.slice(0, 1 + random.below(2))
      const undefaulted = keys.filter((key) => items.properties[key].default === undefined)
      items.required = [...new Set([...(items.required ?? []), ...undefaulted])]
      if (items.required.length === 0) delete items.required
    }
  }
  return schema
}

const wrongValues = [null, 1, -1, 1.5, 'x', true, [], {}, [1], { z: 1 }, [null], { z: null }]

/** `wrong`: how likely a value is of another type than its schema says. */
export function randomValue(random: Random, schema: Any, wrong: number): Any {
  if (random.chance(wrong)) return structuredClone(random.pick<Any>(wrongValues))
  if (schema.enum && random.chance(0.6)) return random.pick(schema.enum)
  if (schema['x-kubernetes-embedded-resource'] && random.chance(0.8)) {
    return embeddedObject(random, schema, wrong)
  }
  switch (schema.type) {
    case 'string':
      return random.pick(texts)
    case 'integer':
      return random.chance(0.95) ? random.pick(numbers) : random.pick(fractions)
    case 'number':
      return random.chance(0.5) ? random.pick(numbers) : random.pick(fractions)
    case 'boolean':
      return random.chance(0.5)
    case 'array': {
      const length = random.below(4)
      return Array.from({ length }, () => randomValue(random, schema.items ?? {}, wrong))
    }
    case 'object':
      return randomObject(random, schema, wrong)
    default:
      return structuredClone(random.pick<Any>([1, 'x', '50%', { z: { y: 1 } }, [1], null, [{}]]))
  }
}

function embeddedObject(random: Random, schema: Any, wrong: number): Any {
  return {
    ...maybe(random, 0.9, () => ({ apiVersion: random.pick<Any>(['v1', 'a/b/c', '', 'x.y/v1']) })),
    ...maybe(random, 0.9, () => ({ kind: random.pick<Any>(['Pod', 'A_b', '', 'x y']) })),
    ...maybe(random, 0.7, () => ({
      metadata: random.pick<Any>([
        { name: 'a' },
        { name: 'A_b', labels: { a: 'b' } },
        { labels: { 'a b': 'c' } },
        { labels: { a: 1 } },
        { bogus: 1, name: 'x' },
        { name: 1 },
        [],
        null,
        'x',
        {},
      ]),
    })),
    ...randomObject(random, schema, wrong),
  }
}

function randomObject(random: Random, schema: Any, wrong: number): Any {
  const value: Any = {}
  for (const [name, one] of Object.entries<Any>(schema.properties ?? {})) {
    const likely = schema.required?.includes(name) ? 0.9 : 0.6
    if (random.chance(likely)) value[name] = randomValue(random, one, wrong)
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const name of ['k1', 'k2'].slice(random.below(3)))
      value[name] = randomValue(random, schema.additionalProperties, wrong)
  }
  if (random.chance(wrong > 0 ? 0.15 : 0.03)) {
    value.extra = structuredClone(random.pick<Any>([1, 'x', { y: 1 }, null]))
  }
  return value
}
