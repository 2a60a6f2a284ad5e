import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { Checker } from './check.ts'
import { type Errors, fieldErrors } from './check-result.ts'
import { Defaults } from './defaults.ts'
import type { JsonSchema } from './json-schema.ts'
import { Pruner } from './prune.ts'
import { keysAsWritten } from './sorted-copy.ts'

const pruner = new Pruner({
  readMeta: (field, value) => (field === 'metadata' ? { read: value } : value),
})
const preserve = { 'x-kubernetes-preserve-unknown-fields': true } as const

type Case = [string, JsonSchema, Json, Json]
const cases: Case[] = [
  [
    'unknown fields are pruned, keys are sorted',
    { properties: { a: {}, b: {} } },
    { b: 1, x: 2, a: 3 },
    { a: 3, b: 1 },
  ],
  ['preserved fields stay', preserve, { b: { z: 1, y: [] }, a: 1 }, { a: 1, b: { y: [], z: 1 } }],
  [
    'inside preserved fields what is declared is pruned again',
    { ...preserve, properties: { a: { type: 'object', properties: { b: {} } } } },
    { a: { b: 1, c: 2 }, d: 3 },
    { a: { b: 1 }, d: 3 },
  ],
  [
    'maps keep their keys',
    { additionalProperties: { properties: { a: {} } } },
    { k: { a: 1, b: 2 } },
    { k: { a: 1 } },
  ],
  [
    'values of any kind lose what is inside',
    { additionalProperties: true },
    { k: { a: 1 }, l: 2 },
    { k: {}, l: 2 },
  ],
  ['items', { items: { properties: { a: {} } } }, [{ a: 1, b: 2 }, 3], [{ a: 1 }, 3]],
  [
    'nulls that are not allowed are removed',
    { properties: { a: { type: 'string' } } },
    { a: null },
    {},
  ],
  [
    'nulls that are allowed stay',
    { properties: { a: { nullable: true } } },
    { a: null },
    { a: null },
  ],
  [
    'nulls that are to be replaced stay',
    { properties: { a: { default: 1 } } },
    { a: null },
    { a: null },
  ],
  [
    'embedded objects keep their type and metadata',
    { 'x-kubernetes-embedded-resource': true, properties: { spec: {} } },
    { kind: 'K', metadata: 1, spec: 2, other: 3 },
    { kind: 'K', metadata: { read: 1 }, spec: 2 },
  ],
  [
    'declared nulls are removed before they are read as metadata',
    { ...preserve, 'x-kubernetes-embedded-resource': true, properties: { metadata: {}, kind: {} } },
    { kind: null, metadata: null, spec: 2 },
    { spec: 2 },
  ],
  [
    'keys named like built-in ones are keys',
    preserve,
    JSON.parse('{"__proto__":{"a":1}}'),
    JSON.parse('{"__proto__":{"a":1}}'),
  ],
]
for (const [name, schema, value, expected] of cases) {
  test(name, () => {
    const before = JSON.stringify(value)
    const copy = pruner.of(schema)(value)
    assert.equal(JSON.stringify(copy), JSON.stringify(expected))
    assert.equal(JSON.stringify(value), before, 'the input stays as it was')
  })
}

const fillOf = (schema: JsonSchema) => new Defaults(pruner.of(schema)).of(schema)
const filled: Case[] = [
  ['absent fields', { properties: { b: { default: 1 } } }, { a: 0, c: 2 }, { a: 0, b: 1, c: 2 }],
  ['nulls that are not allowed', { properties: { a: { default: 1 } } }, { a: null }, { a: 1 }],
  [
    'nulls that are allowed',
    { properties: { a: { default: 1, nullable: true } } },
    { a: null },
    { a: null },
  ],
  [
    'inside of defaults',
    { properties: { a: { default: {}, properties: { b: { default: 2 } } } } },
    {},
    { a: { b: 2 } },
  ],
  ['items', { items: { properties: { a: { default: 1 } } } }, [{}, { a: 2 }], [{ a: 1 }, { a: 2 }]],
  [
    'values of maps',
    { additionalProperties: { properties: { a: { default: 1 } } } },
    { k: {} },
    { k: { a: 1 } },
  ],
  [
    'without what their schema does not know',
    { properties: { a: { default: { b: 1, c: 2 }, type: 'object', properties: { b: {} } } } },
    {},
    { a: { b: 1 } },
  ],
]
for (const [name, schema, value, expected] of filled) {
  test(`defaults: ${name}`, () => {
    assert.equal(JSON.stringify(fillOf(schema)?.(value)), JSON.stringify(expected))
  })
}

test('a schema without defaults compiles to nothing', () => {
  assert.equal(fillOf({ properties: { a: { type: 'string' } } }), undefined)
})

test('each use gets a new copy of the default', () => {
  const fill = fillOf({ properties: { a: { default: [] } } })
  const first = fill?.({}) as { a: Json[] }
  first.a.push(1)
  assert.deepEqual(fill?.({}), { a: [] })
})

test('maps are reported in the order in which they were written', () => {
  const schema: JsonSchema = { type: 'object', additionalProperties: { type: 'integer' } }
  const copy = new Pruner({ readMeta: (_field, value) => value }).of(schema)({ b: 'x', a: 'y' })
  assert.deepEqual(Object.keys(copy as object), ['a', 'b'])
  assert.deepEqual(keysAsWritten(copy as object), ['b', 'a'])
  const errors: Errors = new Map()
  new Checker({ release: releaseOf(22) }).of(schema)(copy, 'm', errors)
  assert.deepEqual(
    fieldErrors(errors, releaseOf(22)).map(({ field }) => field),
    ['m.b', 'm.a'],
  )
})
