import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import type { JsonSchema } from './json-schema.ts'
import { checkListTypes } from './list-types.ts'

const set: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: {} }
const map: JsonSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['a', 'b'],
  items: { type: 'object', properties: { in: set } },
}
const schema: JsonSchema = {
  type: 'object',
  properties: { set, map, plain: { type: 'array', items: {} } },
}

const rows: [string, Json, ...string[]][] = [
  ['each once', { set: ['a', 1, '1', { x: 1 }], plain: [1, 1] }],
  ['twice', { set: ['a', 'b', 'a'] }, 'set[2]: Duplicate value: "a"'],
  ['three equal items are reported once', { set: [1, 1, 1] }, 'set[1]: Duplicate value: 1'],
  [
    'the order of fields does not matter',
    {
      set: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    },
    'set[1]: Duplicate value: map[string]interface {}{"x":1, "y":2}',
  ],
  ['one key of two', { map: [{ a: 1 }, { a: 1, b: 2 }] }],
  [
    'both keys',
    {
      map: [
        { a: 1, b: 2, c: 3 },
        { a: 1, b: 2 },
      ],
    },
    'map[1]: Duplicate value: map[string]interface {}{"a":1, "b":2}',
  ],
  [
    'no object',
    { map: [{ a: 1 }, 1] },
    'map[1]: Invalid value: 1: must be an object for an array of list-type map',
  ],
  ['inside', { map: [{ a: 1, in: [1, 1] }] }, 'map[0].in[1]: Duplicate value: 1'],
]

test('sets have each value once, and maps each key', () => {
  for (const [name, value, ...want] of rows) {
    const stated = checkListTypes(schema, value).map(({ field, message }) => `${field}: ${message}`)
    assert.deepEqual(stated, want, name)
  }
})

test('there may be more duplicates than a call has arguments', () => {
  const twice = Array.from({ length: 300_000 }, (_, i) => i >> 1)
  assert.equal(checkListTypes(schema, { set: twice }).length, 150_000)
})
