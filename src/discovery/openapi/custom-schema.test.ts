import assert from 'node:assert/strict'
import test from 'node:test'
import type { Kind } from '#kinds/kind.ts'
import { customSchema } from './custom-schema.ts'
import { form2 } from './schema-form.ts'
import type { JsonObject } from './source.ts'

const kind = { group: 'example.com', version: 'v1', kind: 'Gear', listKind: 'GearList' } as Kind
const preserve = 'x-kubernetes-preserve-unknown-fields'
const text = { type: 'string' }

/** The schema of a field, and its form in OpenAPI v2. */
const rows: readonly [given: JsonObject, shown: JsonObject][] = [
  [text, text],
  [{ type: 'object', [preserve]: true, properties: { a: text } }, { [preserve]: true }],
  [{ type: 'array', [preserve]: true, items: text }, { [preserve]: true }],
  [
    { type: 'object', nullable: true, properties: { a: text }, description: 'd' },
    { description: 'd' },
  ],
  [{ type: 'string', default: 'a', anyOf: [{}], allOf: [{}], oneOf: [{}], not: {} }, text],
  [
    {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: text, b: { ...text, nullable: true } },
    },
    { type: 'object', required: ['a'], properties: { a: text, b: {} } },
  ],
  [
    { type: 'array', items: { type: 'string', default: 'a' } },
    { type: 'array', items: text },
  ],
  [
    { type: 'object', additionalProperties: { type: 'string', default: 'a' } },
    { type: 'object', additionalProperties: text },
  ],
]
for (const [given, shown] of rows) {
  test(`OpenAPI v2 of ${JSON.stringify(given)}`, () => {
    const before = JSON.stringify(given)
    const schema = customSchema(kind, { type: 'object', properties: { f: given } }, form2)
    assert.deepEqual((schema.properties as JsonObject).f, shown)
    assert.equal(JSON.stringify(given), before, 'what is given is not changed')
  })
}
