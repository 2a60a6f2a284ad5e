import assert from 'node:assert/strict'
import test from 'node:test'
import type { Kind } from '#kinds/kind.ts'
import { releaseOf } from '#api/releases/change.ts'
import { customListSchema, customSchema } from './custom-schema.ts'
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

test('a list has a type from 1.27', () => {
  const typeIn = (minor: number) =>
    customListSchema(kind, 'Gear', form2, releaseOf(minor)).type as string | undefined
  assert.deepEqual([typeIn(26), typeIn(27)], [undefined, 'object'])
})

test('the selectable fields are an extension of an object and of a list', () => {
  const name = 'x-kubernetes-selectable-fields'
  const selectable = { ...kind, selectableFields: ['spec.size'] }
  const shown = [{ fieldPath: 'spec.size' }]
  assert.deepEqual(customSchema(selectable, { type: 'object' }, form2)[name], shown)
  assert.deepEqual(customListSchema(selectable, 'Gear', form2, releaseOf(37))[name], shown)
  assert.ok(!Object.hasOwn(customSchema(kind, { type: 'object' }, form2), name))
})
