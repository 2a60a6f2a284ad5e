/**
 * Random definitions of custom kinds: whole ones that a server takes, and ones with something wrong
 * anywhere, from names down to the last keyword of a schema.
 */
import { gearDefinition } from './gear-definition.ts'
import type { Random } from './random.ts'
import { objectSchema, randomSchema } from './random-schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: definitions are JSON of any shape
type Any = any

const paths = ['.spec.a', '.spec.b', '.status.a', '.metadata.name', '.spec.a[0]', '.spec.*']
const badPaths = ['', 'spec.a', '.spec.a[', '{.spec.a}', '.spec', '..a', '.spec["a"]', '.a b']

const maybe = (random: Random, probability: number, make: () => Any): Any =>
  random.chance(probability) ? make() : {}

/** A definition that is right but for what its random schema does wrong. */
export function randomDefinition(random: Random, group: string): Any {
  const count = random.pick([1, 1, 2, 3])
  const versionNames = ['v1', 'v1beta1', 'v2alpha1'].slice(0, count)
  const stored = random.below(count)
  const scope = random.chance(0.7) ? 'Namespaced' : 'Cluster'
  const names = {
    plural: 'gears',
    kind: 'Gear',
    ...maybe(random, 0.5, () => ({ singular: 'gear' })),
    ...maybe(random, 0.5, () => ({ listKind: 'GearList' })),
    ...maybe(random, 0.3, () => ({ shortNames: [`gr${group.replace(/\W.*$/, '')}`] })),
    ...maybe(random, 0.3, () => ({ categories: ['all', 'tools'] })),
  }
  const versions = versionNames.map((name, i) => version(random, name, i === stored))
  return gearDefinition(group, versions, {
    scope,
    names,
    ...maybe(random, 0.2, () => ({ conversion: { strategy: 'None' } })),
    ...maybe(random, 0.1, () => ({ preserveUnknownFields: false })),
  })
}

function version(random: Random, name: string, storage: boolean): Any {
  return {
    name,
    served: storage || random.chance(0.9),
    storage,
    ...maybe(random, 0.15, () => ({
      deprecated: true,
      ...maybe(random, 0.5, () => ({ deprecationWarning: 'no longer "in use"' })),
    })),
    ...schemaAndSubresources(random),
    ...maybe(random, 0.4, () => ({ additionalPrinterColumns: columns(random) })),
  }
}

function schemaAndSubresources(random: Random): Any {
  const schema = wholeSchema(random)
  if (random.chance(0.4)) return { schema: { openAPIV3Schema: schema } }
  const made = subresources(random)
  for (const [name, path] of Object.entries<Any>(random.chance(0.85) ? (made.scale ?? {}) : {})) {
    declare(schema, path.split('.').slice(1), name === 'labelSelectorPath' ? 'string' : 'integer')
  }
  return { schema: { openAPIV3Schema: schema }, subresources: made }
}

function declare(schema: Any, [name, ...rest]: string[], type: string): void {
  schema.properties ??= {}
  if (rest.length === 0) {
    schema.properties[name] = { type }
    return
  }
  const inner = schema.properties[name]
  if (inner?.properties === undefined) schema.properties[name] = { type: 'object' }
  declare(schema.properties[name], rest, type)
}

function wholeSchema(random: Random): Any {
  if (random.chance(0.1)) return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    type: 'object',
    ...maybe(random, 0.2, () => ({ required: ['spec'] })),
    properties: {
      spec: objectSchema(random, 2),
      ...maybe(random, 0.7, () => ({ status: objectSchema(random, 2) })),
      ...maybe(random, 0.2, () => ({ other: randomSchema(random, 1) })),
      ...maybe(random, 0.1, () => ({
        metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 2 } } },
      })),
    },
  }
}

const subresources = (random: Random): Any => ({
  ...maybe(random, 0.8, () => ({ status: {} })),
  ...maybe(random, 0.6, () => ({
    scale: {
      specReplicasPath: random.pick(['.spec.a', '.spec.b', '.spec.c.d']),
      statusReplicasPath: random.pick(['.status.a', '.status.b']),
      ...maybe(random, 0.5, () => ({ labelSelectorPath: random.pick(['.status.c', '.spec.d']) })),
    },
  })),
})

const columns = (random: Random): Any =>
  ['One', 'Two', 'Age'].slice(random.below(3)).map((name) => ({
    name,
    type: random.pick(['string', 'integer', 'number', 'boolean', 'date']),
    jsonPath: random.pick(paths),
    ...maybe(random, 0.2, () => ({ priority: random.below(2) })),
    ...maybe(random, 0.2, () => ({ format: random.pick(['int32', 'byte', 'date-time']) })),
    ...maybe(random, 0.2, () => ({ description: 'x' })),
  }))

/** Of no version where an earlier change left none. */
const anyVersion = (definition: Any, random: Random): Any =>
  random.pick<Any>(definition.spec.versions ?? []) ?? {}

/** One thing wrong: each takes a whole definition and spoils it. */
const spoilers: readonly ((definition: Any, random: Random) => void)[] = [
  (d, r) => (d.metadata.name = r.pick(['gears', 'x.y', 'Gears.example.com', ''])),
  (d, r) => (d.spec.group = r.pick(['', 'nodot', 'A.b', 'a_b.c', 'a..b', 'x.k8s.io'])),
  (d, r) => (d.spec.scope = r.pick(['', 'namespaced', 'Both', undefined])),
  (d, r) => (d.spec.names.plural = r.pick(['', 'Gears', 'g s', 'gears.x', undefined])),
  (d, r) => (d.spec.names.kind = r.pick(['', 'gear', 'G ear', 'GearList', 'G_e', undefined])),
  (d, r) => (d.spec.names.listKind = r.pick(['', 'Gear', 'g l', 'GEARS'])),
  (d, r) => (d.spec.names.singular = r.pick(['', 'Gear', 'g_r', 'gears'])),
  (d, r) => (d.spec.names.shortNames = r.pick([['G'], [''], ['a', 'a'], ['a b'], null, []])),
  (d, r) => (d.spec.names.categories = r.pick([['All'], [''], ['a', 'a'], null, []])),
  (d, r) => (d.spec.versions = r.pick([[], null, undefined, [anyVersion(d, r), anyVersion(d, r)]])),
  (d, r) => (anyVersion(d, r).name = r.pick(['', 'V1', 'a.b', '1', 'v1 ', undefined])),
  (d, r) => (anyVersion(d, r).storage = r.chance(0.5)),
  (d, r) => (anyVersion(d, r).served = r.pick([false, undefined])),
  (d, r) => (anyVersion(d, r).deprecationWarning = r.pick(['', 'x', 'a\nb', 'x'.repeat(300)])),
  (d, r) => (anyVersion(d, r).schema = r.pick([undefined, {}, null, { openAPIV3Schema: {} }])),
  (d, r) => (anyVersion(d, r).subresources = badSubresources(r)),
  (d, r) => (anyVersion(d, r).additionalPrinterColumns = badColumns(r)),
  (d, r) => (d.spec.conversion = badConversion(r)),
  (d) => (d.spec.preserveUnknownFields = true),
  spoilSchema,
  spoilSchema,
  spoilSchema,
  spoilSchema,
  spoilSchema,
  spoilSchema,
]

export function spoil(definition: Any, random: Random): void {
  random.pick(spoilers)(definition, random)
}

const badSubresources = (random: Random): Any =>
  random.pick<Any>([
    null,
    {},
    { status: null },
    { scale: null },
    { scale: {} },
    { scale: { specReplicasPath: random.pick(badPaths), statusReplicasPath: '.status.a' } },
    {
      scale: {
        specReplicasPath: '.spec.a',
        statusReplicasPath: random.pick([...badPaths, '.spec.a']),
      },
    },
    {
      scale: {
        specReplicasPath: random.pick(['.status.a', '.spec.a.b']),
        statusReplicasPath: '.status.a',
        labelSelectorPath: random.pick([...badPaths, '.metadata.a', '.spec.x']),
      },
    },
  ])

const badColumns = (random: Random): Any =>
  random.pick<Any>([
    null,
    [],
    [{}],
    [{ name: '', type: 'string', jsonPath: '.a' }],
    [{ name: 'a', type: random.pick(['', 'text', 'object']), jsonPath: '.a' }],
    [{ name: 'a', type: 'string', format: random.pick(['x', 'int32', '']), jsonPath: '.a' }],
    [{ name: 'a', type: 'string', jsonPath: random.pick(badPaths) }],
    [
      { name: 'a', type: 'string', jsonPath: '.a' },
      { name: 'a', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: -1 },
    ],
  ])

const badConversion = (random: Random): Any =>
  random.pick<Any>([
    {},
    { strategy: 'Bogus' },
    { strategy: '' },
    { strategy: 'Webhook' },
    {
      strategy: 'None',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://x' } },
    },
    { strategy: 'Webhook', webhook: {} },
    {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: random.pick([
          [],
          ['v2'],
          ['V 1'],
          ['v1', 'v1'],
          ['v1', 'v9'],
          null,
        ]),
        clientConfig: clientConfig(random),
      },
    },
    {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1', 'v1beta1'], clientConfig: clientConfig(random) },
    },
  ])

const clientConfig = (random: Random): Any =>
  random.pick<Any>([
    undefined,
    {},
    {
      url: random.pick([
        'https://a.b/c',
        'http://a',
        'x',
        '',
        'https://u@a',
        'https://a?x=1',
        'https://a#x',
      ]),
    },
    { service: { name: 'a', namespace: 'b' } },
    {
      service: {
        name: random.pick(['', 'a']),
        namespace: random.pick(['', 'b']),
        port: random.pick([0, 1, 70000]),
        path: random.pick(['x', '/x', '/a//b', '/A_b']),
      },
    },
    { url: 'https://a', service: { name: 'a', namespace: 'b' } },
    { url: 'https://a', caBundle: random.pick(['', 'YQ==', 'Cg==']) },
  ])

/** Keywords a schema may not have, or not there, or not with that value. */
const keywords: readonly (readonly [string, readonly Any[]])[] = [
  ['type', ['', 'text', 'null', 'array', 'object', 'string', undefined]],
  ['nullable', [true, false]],
  ['default', [null, 1, 'x', {}, [], true, { a: 1 }]],
  ['enum', [[], [1, 1], ['a', null], [{}]]],
  ['pattern', ['(', 'a**', '^(?!a)', '[', '\\d{1,2000}']],
  ['minimum', [1, -1.5]],
  ['exclusiveMinimum', [true]],
  ['maximum', [0]],
  ['exclusiveMaximum', [true]],
  ['multipleOf', [0, -1]],
  ['minLength', [-1, 3]],
  ['maxLength', [-1, 0]],
  ['minItems', [2]],
  ['maxItems', [-1]],
  ['minProperties', [5]],
  ['maxProperties', [-1]],
  ['uniqueItems', [true, false]],
  ['required', [['a', 'a'], [''], []]],
  ['format', ['bogus', '', 'date']],
  ['title', ['t']],
  ['id', ['x']],
  ['$ref', ['#/x', '']],
  ['$schema', ['x', 'http://json-schema.org/draft-04/schema#']],
  ['example', [1, null]],
  ['externalDocs', [{ url: 'x' }, {}]],
  ['definitions', [{ a: { type: 'string' } }, {}]],
  ['dependencies', [{ a: ['b'] }, { a: { type: 'string' } }, {}]],
  ['patternProperties', [{ a: { type: 'string' } }, {}]],
  ['additionalItems', [true, false, { type: 'string' }]],
  ['items', [{ type: 'string' }, [{ type: 'string' }], {}, null]],
  [
    'properties',
    [
      {},
      { a: {} },
      { a: { type: 'string' }, metadata: { type: 'object' } },
      { '': { type: 'string' } },
    ],
  ],
  ['additionalProperties', [true, false, {}, { type: 'string' }]],
  ['x-kubernetes-preserve-unknown-fields', [true, false]],
  ['x-kubernetes-embedded-resource', [true, false]],
  ['x-kubernetes-int-or-string', [true, false]],
  ['x-kubernetes-list-type', ['set', 'map', 'atomic', 'bag', '']],
  ['x-kubernetes-list-map-keys', [['a'], [], ['a', 'a'], ['zz']]],
  ['x-kubernetes-map-type', ['atomic', 'granular', 'x', '']],
  ['x-kubernetes-bogus', [true]],
  [
    'anyOf',
    [
      [],
      [{}],
      [{ type: 'string' }, { type: 'integer' }],
      [{ properties: { q: {} } }],
      [{ default: 1 }],
    ],
  ],
  [
    'oneOf',
    [[{ required: ['a'] }], [{ 'x-kubernetes-preserve-unknown-fields': true }], [{ items: {} }]],
  ],
  [
    'allOf',
    [
      [{ additionalProperties: { minimum: 1 } }],
      [{ nullable: true }],
      [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }],
      [{ description: 'x', title: 'y' }],
    ],
  ],
  [
    'not',
    [
      {},
      { type: 'string' },
      { required: ['a'] },
      { items: { type: 'string' } },
      { properties: { metadata: {} } },
    ],
  ],
]

function spoilSchema(definition: Any, random: Random): void {
  const places: Any[] = []
  for (const one of definition.spec.versions ?? []) collect(one?.schema?.openAPIV3Schema, places)
  if (places.length === 0) return
  const [keyword, values] = random.pick(keywords)
  // The top is one place of many, and has rules of its own.
  const place = random.chance(0.15) ? places[0] : random.pick(places)
  place[keyword] = structuredClone(random.pick(values as Any[]))
}

function collect(schema: Any, places: Any[]): void {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return
  places.push(schema)
  for (const one of Object.values(schema.properties ?? {})) collect(one, places)
  collect(schema.items, places)
  collect(schema.additionalProperties, places)
  collect(schema.not, places)
  for (const junctor of ['anyOf', 'oneOf', 'allOf']) {
    for (const one of schema[junctor] ?? []) collect(one, places)
  }
}
