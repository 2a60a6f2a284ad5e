import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { formatCheck } from './formats.ts'
import type { Json } from '#api/object-meta.ts'
import type { JsonSchema } from './json-schema.ts'
import { checkListTypes } from './list-types.ts'
import { checkStructural, unsupported } from './rules.ts'

const root = FieldPath.of('s')
const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})
const texts = (schema: JsonSchema) =>
  checkStructural(schema, root).map(({ field, message }) => `${field}: ${message}`)

const b = { type: 'string' }
const cases: [JsonSchema, ...string[]][] = [
  [object({ a: { type: 'string' } })],
  [{}, 's.type: Required value: must not be empty at the root'],
  [{ type: 'string' }, 's.type: Invalid value: "string": must be object at the root'],
  [
    object({ a: {} }),
    's.properties[a].type: Required value: must not be empty for specified object fields',
  ],
  [
    object({ a: { type: 'string', 'x-kubernetes-embedded-resource': true, properties: { b } } }),
    's.properties[a].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ],
  [
    object({ a: { 'x-kubernetes-embedded-resource': true, properties: { b } } }),
    's.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true',
  ],
  [object({ a: { type: 'array' } }), 's.properties[a].items: Required value: must be specified'],
  [
    object({}, { additionalProperties: true }),
    's.additionalProperties: Forbidden: must not be used at the root',
  ],
  [
    object({ a: { type: 'string', pattern: '[' } }),
    's.properties[a].pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
  ],
  [
    object({ a: { type: 'string' } }, { anyOf: [{ properties: { b: {} } }] }),
    's.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]',
  ],
  [
    object({}, { anyOf: [{ default: {} }] }),
    's.anyOf[0].default: Forbidden: must be undefined to be structural',
  ],
  [
    object({}, { oneOf: [{ nullable: true }] }),
    's.oneOf[0].nullable: Forbidden: must be false to be structural',
  ],
  [object({}, { not: { title: 'a' } }), 's.not.title: Forbidden: must be empty to be structural'],
  [
    object({}, { allOf: [{ type: 'object' }] }),
    's.allOf[0].type: Forbidden: must be empty to be structural',
  ],
  [
    object({
      a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    }),
  ],
  [object({ metadata: object({ name: { type: 'string', pattern: 'a' } }) })],
  [
    object({ metadata: object({ labels: { type: 'object' } }) }),
    's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
  [
    object({ metadata: { type: 'object', 'x-kubernetes-list-type': '' } as never }),
    's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
  [
    object({ metadata: { type: 'object', additionalProperties: false } }),
    's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
]
for (const [schema, ...expected] of cases) {
  test(JSON.stringify(schema), () => assert.deepEqual(texts(schema), expected))
}

test('lists of type set or map have no duplicates', () => {
  const schema = object({
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    map: {
      type: 'array',
      items: object({ n: {} }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n'],
    },
  })
  const value: Json = { set: ['a', 'b', 'a', 'a'], map: [{ n: 1 }, { n: 1, m: 2 }, {}] }
  const stated = checkListTypes(schema, value).map(({ field, message }) => `${field}: ${message}`)
  assert.deepEqual(stated, [
    'set[2]: Duplicate value: "a"',
    'map[1]: Duplicate value: map[string]interface {}{"n":1}',
  ])
})

const words = (name: string) => `OpenAPIV3Schema '${name}' is not supported`
/** Schemas that cannot be parsed as structural schemas, at any place, and their errors. */
const unreadable: [JsonSchema, string | undefined][] = [
  [{ id: 'a' }, words('id')],
  [{ $schema: 'a' }, words('schema')],
  [{ $ref: 'a' }, words('$ref')],
  [{ patternProperties: { a: b } }, words('patternProperties')],
  [{ dependencies: { a: ['b'] } }, words('dependencies')],
  [{ additionalItems: true }, words('additionalItems')],
  [{ definitions: { a: b } }, words('definitions')],
  [{ items: [b] }, "OpenAPIV3Schema 'items' must be a schema, but is an array"],
  [
    { 'x-kubernetes-preserve-unknown-fields': false },
    "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
  ],
  [{ id: '', $ref: '', definitions: {}, dependencies: {} }, undefined],
  [object({ a: { $ref: 'a' } }), words('$ref')],
  [{ items: { $ref: 'a' } }, words('$ref')],
  [{ additionalProperties: { $ref: 'a' } }, words('$ref')],
  [{ not: { $ref: 'a' } }, words('$ref')],
  [{ anyOf: [b, { $ref: 'a' }] }, words('$ref')],
  [{ allOf: [{ $ref: 'a' }] }, words('$ref')],
  [{ oneOf: [{ $ref: 'a' }] }, words('$ref')],
]
for (const [schema, stated] of unreadable) {
  test(`unreadable: ${JSON.stringify(schema)}`, () => assert.equal(unsupported(schema), stated))
}

const formats: [string, string, boolean][] = [
  ['date-time', '2020-01-02T03:04:05Z', true],
  ['date-time', '2020-01-02', false],
  ['date-time', '2020-01-02T24:04:05Z', false],
  ['date-time', '2020-01-02T03:60:05Z', false],
  ['date-time', '2020-01-02T03:04:60Z', false],
  ['date', '2020-02-30', false],
  ['ipv4', '10.0.0.1', true],
  ['ipv6', '::1', true],
  ['cidr', '10.0.0.0/8', true],
  ['uri', 'http://x/y', true],
  ['uri', '/y', true],
  ['uri', 'y', false],
  ['uri', '%zz', false],
  ['email', 'Some One <a@b.c>', true],
  ['email', 'a', false],
  ['hostname', 'a.example.com', true],
  ['hostname', '-a', false],
  ['mac', '01:23:45:67:89:ab', true],
  ['mac', '0123456789ab', true],
  ['mac', '0123456789abcd', false],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', true],
  ['isbn', '978-0321751041', true],
  ['creditcard', '4111 1111 1111 1111', true],
  ['creditcard', '4111 1111 1111 1112', false],
  ['byte', 'YQ==', true],
  ['byte', '', false],
  ['duration', '22 ns', true],
  ['duration', 'soon', false],
]
for (const [format, text, fits] of formats) {
  test(`${format} ${JSON.stringify(text)}`, () => assert.equal(formatCheck(format)?.(text), fits))
}

test('unknown formats have no rules', () => assert.equal(formatCheck('int32'), undefined))

test('no format check takes long', () => {
  const spentMs = processorMs(() => {
    for (const format of [
      'email',
      'hostname',
      'duration',
      'uri',
      'byte',
      'isbn',
      'creditcard',
      'mac',
    ]) {
      for (const text of ['a', '1', ' ', '-', 'a.', '"', '1 '])
        formatCheck(format)?.(text.repeat(300_000))
    }
  })
  assert.ok(spentMs < 3000, `${spentMs} ms`)
})
