import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { coerceError } from './coerce.ts'
import type { JsonSchema } from './json-schema.ts'

const inner: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true }
const schema: JsonSchema = {
  type: 'object',
  properties: {
    one: inner,
    many: { type: 'array', items: inner },
    named: { type: 'object', additionalProperties: inner },
    nullable: { ...inner, properties: { kind: { type: 'string', nullable: true } } },
    other: { type: 'object' },
  },
}
const metadataProblem = (metadata: Json) =>
  typeof metadata === 'object' ? undefined : 'must be an object'

/** Errors in the type and the metadata of embedded objects; the first is reported. */
const rows: readonly [value: Json, stated: string | undefined][] = [
  [{ one: { kind: 'A', apiVersion: 'v1', metadata: {} } }, undefined],
  [{ one: { kind: 1 } }, 'one.kind: Invalid value: 1: must be a string'],
  [
    { one: { apiVersion: [] } },
    'one.apiVersion: Invalid value: []interface {}{}: must be a string',
  ],
  [{ one: { metadata: 1 } }, 'one.metadata: Invalid value: 1: must be an object'],
  [{ many: [{}, { kind: true }] }, 'many[1].kind: Invalid value: true: must be a string'],
  [{ named: { a: { kind: 2 } } }, 'named[a].kind: Invalid value: 2: must be a string'],
  [{ nullable: { kind: null } }, 'nullable.kind: Invalid value: "null": must be a string'],
  [{ other: { kind: 1, metadata: 1 } }, undefined],
  [{ kind: 1 }, undefined],
  [{ one: null, many: 'text' }, undefined],
]
for (const [value, stated] of rows) {
  test(JSON.stringify(value), () => {
    const error = coerceError(schema, value, FieldPath.root, metadataProblem)
    assert.equal(error && `${error.field}: ${error.message}`, stated)
  })
}
