import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { ArrayList } from './collections.ts'
import { equal } from './equality.ts'
import { jsonView } from './json-view.ts'
import { schemaView } from './schema-view.ts'
import { showValue } from './show-value.ts'
import { type ListValue, MapValue, typeName, type Value } from './values.ts'

const scalars: readonly (readonly [JsonSchema, unknown, string, string])[] = [
  [{ type: 'integer' }, 1, 'int', '1'],
  [{ type: 'number' }, 1, 'double', '1'],
  [
    { type: 'string', format: 'date-time' },
    '2020-01-01T00:00:00Z',
    'google.protobuf.Timestamp',
    '2020-01-01 00:00:00 +0000 UTC',
  ],
  [
    { type: 'string', format: 'date' },
    '2020-01-02',
    'google.protobuf.Timestamp',
    '2020-01-02 00:00:00 +0000 UTC',
  ],
  [{ type: 'string', format: 'duration' }, '1h', 'google.protobuf.Duration', '1h0m0s'],
  [{ type: 'string', format: 'duration' }, '2 days', 'google.protobuf.Duration', '48h0m0s'],
  [{ type: 'string', format: 'byte' }, 'YWI=', 'bytes', '[97 98]'],
  [{ 'x-kubernetes-int-or-string': true }, '50%', 'string', '50%'],
  [{ 'x-kubernetes-int-or-string': true }, 5, 'int', '5'],
  [{ type: 'string', nullable: true }, null, 'null_type', 'NULL_VALUE'],
  [{ type: 'string' }, null, 'error', 'invalid data, got null for schema with nullable=false'],
  [{ type: 'integer' }, 'a', 'error', 'invalid data, expected int, got string'],
]

test('the schema decides the type of a value', () => {
  for (const [schema, json, type, text] of scalars) {
    const value = schemaView(json, schema)
    assert.deepEqual([typeName(value), showValue(value)], [type, text], JSON.stringify(schema))
  }
})

const keys = (value: Value): unknown[] => (value instanceof MapValue ? [...value.keys()] : [])
const find = (value: Value, key: string) => (value instanceof MapValue ? value.find(key) : null)

test('fields are found by their escaped names, and only declared ones exist', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { 'x-a': { type: 'string' }, namespace: { type: 'string' }, gone: {} },
  }
  const value = schemaView({ 'x-a': '1', namespace: 'n', other: 1, gone: null }, schema)
  assert.deepEqual(keys(value), ['x__dash__a', '__namespace__', 'gone'])
  assert.equal(find(value, 'x__dash__a'), '1')
  assert.equal(find(value, '__namespace__'), 'n')
  assert.equal(find(value, 'other'), undefined)
  assert.equal(find(value, 'gone'), undefined)
  assert.equal(find(value, '__proto__'), undefined)
})

test('a resource has apiVersion, kind and names whatever its schema has', () => {
  const schema: JsonSchema = { type: 'object', properties: { metadata: { type: 'object' } } }
  const value = schemaView({ kind: 'A', metadata: { name: 'n', labels: {} } }, schema, true)
  assert.equal(find(value, 'kind'), 'A')
  assert.deepEqual(keys(find(value, 'metadata') as Value), ['name'])
})

const lists: readonly (readonly [string, JsonSchema, unknown, unknown, boolean, string])[] = [
  ['atomic', { type: 'array', items: { type: 'integer' } }, [1, 2], [2, 1], false, '[1, 2, 2, 1]'],
  [
    'set',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
    ...([[1, 2], [2, 1], true, '[1, 2]'] as const),
  ],
  [
    'map',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
    },
    ...([
      [{ k: 'a', v: 1 }, { k: 'b' }],
      [{ k: 'b' }, { k: 'a', v: 1 }],
      true,
      '[{k: a, v: 1}, {k: b}]',
    ] as const),
  ],
]

test('lists of type set and map have no order', () => {
  for (const [name, schema, a, b, same, joined] of lists) {
    const [left, right] = [schemaView(a, schema) as ListValue, schemaView(b, schema) as ListValue]
    assert.equal(equal(left, right), same, name)
    assert.equal(showValue(left.concat(right)), joined, name)
  }
})

const set = (items: JsonSchema): JsonSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'set',
  items,
})
const keyedBy = (key: string): JsonSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
  items: { type: 'object', properties: { [key]: { type: 'string' }, v: { type: 'integer' } } },
})
const names = set({ type: 'string' })
const times = set({ type: 'string', format: 'date-time' })
const byKey = keyedBy('k')
const byNamespace = keyedBy('namespace')

type Sum = readonly [JsonSchema, readonly unknown[][], unknown[], newer: unknown, older: unknown]

const a1 = { k: 'a', v: 1 }
const b2 = { k: 'b', v: 2 }
const [nsA, nsB] = [{ namespace: 'a' }, { namespace: 'b' }]
const noScalars = 'listSet operations are only supported on lists of scalar values'

/** Lists that are added from left to right, the list that the sum is compared with. */
const sums: readonly Sum[] = [
  [names, [['a'], ['b']], ['b', 'a'], true, true],
  [names, [['a'], ['b'], ['a', 'c']], ['c', 'b', 'a'], true, true],
  [names, [['a'], ['b']], ['a', 'c'], false, false],
  [names, [['a', 'b']], ['a', 'a'], false, true],
  [names, [['a', 'b'], ['a']], ['b', 'b'], false, true],
  [set({ type: 'object', properties: {} }), [[{}]], [{}], noScalars, false],
  [times, [['2020-01-01T00:00:00Z']], ['2020-01-01T00:00:00Z'], true, false],
  [times, [['2020-01-01T00:00:00Z']], ['2020-01-01T01:00:00+01:00'], false, false],
  [byKey, [[a1], [b2]], [b2, a1], true, true],
  [byKey, [[{ k: 'a', v: 7 }, b2], [a1], [b2]], [b2, a1], true, true],
  [byKey, [[a1, b2]], [a1, a1], false, true],
  [byKey, [[a1], [b2]], [b2, { k: 'a', v: 7 }], false, false],
  [byNamespace, [[nsA]], [nsA], true, true],
  [byNamespace, [[nsA, nsB]], [nsA, nsB], false, false],
  [byNamespace, [[nsA], [nsB]], [nsB, nsA], true, false],
]

test('sums of lists of type set and map are such lists again', () => {
  for (const [schema, [first, ...more], other, newer, older] of sums) {
    for (const comparesValues of [true, false]) {
      const view = (json: unknown) =>
        schemaView(json, schema, false, { comparesValues }) as ListValue
      const sum = more.reduce((list, one) => list.concat(view(one)) as ListValue, view(first))
      const same = equal(sum, view(other))
      const expected = comparesValues ? newer : older
      const title = JSON.stringify([first, more, other, comparesValues])
      assert.equal(typeof same === 'boolean' ? same : same.message, expected, title)
    }
  }
})

const noOverload = 'no such overload'
const atomic: JsonSchema = { type: 'array', items: names }
const open: JsonSchema = { type: 'object', additionalProperties: atomic }
const unread: JsonSchema = { type: 'object' }

/** Values of a schema beside values of other types, which only expressions of type dyn compare. */
const mixed: readonly (readonly [JsonSchema, unknown, Value, unknown])[] = [
  [names, ['a'], 1n, noOverload],
  [byKey, [a1], 'a', noOverload],
  [atomic, [['a']], true, noOverload],
  [atomic, [['a']], null, false],
  [atomic, [['a']], new ArrayList([1n]), noOverload],
  [atomic, [['a']], new ArrayList([new ArrayList(['a'])]), true],
  [open, { a: [] }, 1n, noOverload],
  [open, { a: [['a']] }, jsonView({ a: [['a']] }), true],
  [open, { a: [['a']] }, jsonView({ a: [1] }), noOverload],
  [open, { a: [] }, jsonView({ b: [] }), false],
  [unread, { a: 1 }, jsonView({ a: 1 }), noOverload],
  [unread, { a: 1 }, schemaView({ a: 1 }, unread), true],
  [unread, { a: 1 }, schemaView({ a: 2 }, unread), false],
]

test('a value of a schema has no meaning beside a value of another type', () => {
  for (const [schema, json, other, expected] of mixed) {
    const same = equal(schemaView(json, schema), other)
    const title = `${JSON.stringify(json)} == ${showValue(other)}`
    assert.equal(typeof same === 'boolean' ? same : same.message, expected, title)
  }
})

test('JSON without a schema is read in place', () => {
  const value = jsonView({ a: [1, 1.5, 'x', null, { b: true }] })
  assert.equal(showValue(value), '{a: [1, 1.5, x, NULL_VALUE, {b: true}]}')
  const elements = find(value, 'a') as ListValue
  assert.deepEqual([typeName(elements.at(0)), typeName(elements.at(1))], ['int', 'double'])
  assert.equal(equal(elements, new ArrayList([1n, 1.5, 'x', null, elements.at(4)])), true)
})
