/** Schemas of built-in types. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'
import { schemaOfType } from './from-type.ts'
import type { JsonSchema } from './json-schema.ts'

const text = scalar('string')
const node = structOf('Node', [field('name', text, 1), field('children', () => listOf(node), 2)])

const rows: [title: string, type: Type, schema: JsonSchema][] = [
  ['a text', text, { type: 'string' }],
  ['a time', scalar('time'), { type: 'string', format: 'date-time' }],
  ['a quantity', scalar('quantity'), {}],
  ['an int or string', scalar('intOrString'), { 'x-kubernetes-int-or-string': true }],
  [
    'a raw object',
    { is: 'scalar', scalar: 'any', named: 'runtime.RawExtension' },
    { type: 'object' },
  ],
  ['any JSON', { is: 'scalar', scalar: 'any', named: 'v1.JSON' }, {}],
  ['a map', mapOf(scalar('int32')), { type: 'object', additionalProperties: { type: 'integer' } }],
  [
    'a type inside itself',
    node,
    {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { type: 'array', items: { type: 'object' } },
      },
    },
  ],
]
for (const [title, type, schema] of rows)
  test(`the schema of ${title}`, () => assert.deepEqual(schemaOfType(type), schema))
