import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { releaseOf } from '#api/releases/change.ts'
import { Checker } from './check.ts'
import { type Errors, fieldErrors } from './check-result.ts'
import type { JsonSchema } from './json-schema.ts'

const at = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: schema } })

function errorsOf(schema: JsonSchema, value: Json, release = 22): string[] {
  const errors: Errors = new Map()
  new Checker({ release: releaseOf(release) }).of(schema)(value, '', errors)
  return fieldErrors(errors, releaseOf(release)).map(({ field, message }) => `${field}: ${message}`)
}

type Case = [JsonSchema, Json, ...string[]]
const body = 'a in body'
const cases: Case[] = [
  [{ type: 'integer' }, 1],
  [
    { type: 'integer' },
    1.5,
    `a: Invalid value: "number": ${body} must be of type integer: "number"`,
  ],
  [
    { type: 'integer' },
    'x',
    `a: Invalid value: "string": ${body} must be of type integer: "string"`,
  ],
  [{ type: 'number' }, 3],
  [{ type: 'string' }, null, `a: Invalid value: "null": ${body} must be of type string: "null"`],
  [{ type: 'string', nullable: true }, null],
  [
    { 'x-kubernetes-int-or-string': true },
    [1],
    `a: Invalid value: "array": ${body} must be of type integer,string: "array"`,
  ],
  [
    { type: 'integer', maximum: 10 },
    11,
    `a: Invalid value: 11: ${body} should be less than or equal to 10`,
  ],
  [
    { type: 'integer', maximum: 2.5 },
    3,
    `a: Invalid value: 3: ${body} should be less than or equal to 2`,
  ],
  [
    { type: 'integer', minimum: 1, exclusiveMinimum: true },
    1,
    `a: Invalid value: 1: ${body} should be greater than 1`,
  ],
  [
    { type: 'integer', maximum: 2, exclusiveMaximum: true },
    2,
    `a: Invalid value: 2: ${body} should be less than 2`,
  ],
  [{ type: 'integer', multipleOf: 3 }, 4, `a: Invalid value: 4: ${body} should be a multiple of 3`],
  [
    { type: 'number', multipleOf: 0.5 },
    1.25,
    `a: Invalid value: 1.25: ${body} should be a multiple of 0.5`,
  ],
  [
    { type: 'string', maxLength: 2 },
    'ü€x',
    `a: Invalid value: "ü€x": ${body} should be at most 2 chars long`,
  ],
  [{ type: 'string', maxLength: 1 }, '😀'],
  [{ type: 'string', pattern: '^a+$' }, 'b', `a: Invalid value: "b": ${body} should match '^a+$'`],
  [
    { type: 'string', format: 'date-time' },
    'now',
    `a: Invalid value: "now": ${body} must be of type date-time: "now"`,
  ],
  [
    { type: 'string', format: 'date-time' },
    1,
    `a: Invalid value: "int64": ${body} must be of type date-time: "int64"`,
  ],
  [{ type: 'string', format: 'no-such' }, 'now'],
  [
    { type: 'string', enum: ['a', 'b'] },
    'c',
    'a: Unsupported value: "c": supported values: "a", "b"',
  ],
  [
    { type: 'array', items: { type: 'string' } },
    ['x', 1],
    `a: Invalid value: "integer": ${body} must be of type string: "integer"`,
  ],
  [
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['x', 'y'],
    `a: Invalid value: 2: ${body} should have at most 1 items`,
  ],
  [{ type: 'object', required: ['b'] }, {}, 'a.b: Required value'],
  [
    { type: 'object', minProperties: 1 },
    {},
    `a: Invalid value: 1: ${body} should have at least 1 properties`,
  ],
  [
    { type: 'object', additionalProperties: { type: 'string' } },
    { k: 1 },
    'a.k: Invalid value: "integer": a.k in body must be of type string: "integer"',
  ],
  [
    { type: 'object', not: { required: ['b'] } },
    { b: 1 },
    '<nil>: Invalid value: "": "a" must not validate the schema (not)',
  ],
  [
    { type: 'object', oneOf: [{ required: ['b'] }, { required: ['c'] }] },
    { b: 1, c: 1 },
    '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
]
for (const [schema, value, ...expected] of cases) {
  test(`${JSON.stringify(schema)} of ${JSON.stringify(value)}`, () => {
    assert.deepEqual(errorsOf(at(schema), { a: value }), expected)
  })
}

/** Each bound with a value that just meets it, one that just violates it, and the error. */
const bounds: readonly [JsonSchema, keeps: Json, breaks: Json, ...stated: string[]][] = [
  [{ type: 'string', minLength: 2 }, 'ab', 'a', `"a": ${body} should be at least 2 chars long`],
  [{ type: 'string', maxLength: 2 }, 'ab', 'abc', `"abc": ${body} should be at most 2 chars long`],
  [
    { type: 'array', items: {}, minItems: 2 },
    [1, 2],
    [1],
    `1: ${body} should have at least 2 items`,
  ],
  [
    { type: 'array', items: {}, maxItems: 1 },
    [1],
    [1, 2],
    `2: ${body} should have at most 1 items`,
  ],
  [
    { type: 'array', items: {}, uniqueItems: true },
    [1, '1', { b: 1 }, { b: 2 }],
    [{ b: 1 }, 2, { b: 1 }],
    `"": ${body} shouldn't contain duplicates`,
  ],
  [
    { type: 'object', minProperties: 1 },
    { b: 1 },
    {},
    `1: ${body} should have at least 1 properties`,
  ],
  [
    { type: 'object', maxProperties: 1 },
    { b: 1 },
    { b: 1, c: 2 },
    `1: ${body} should have at most 1 properties`,
  ],
  [{ type: 'integer', minimum: 1 }, 1, 0, `0: ${body} should be greater than or equal to 1`],
  [{ type: 'integer', maximum: 1 }, 1, 2, `2: ${body} should be less than or equal to 1`],
  [
    { type: 'number', minimum: 1, exclusiveMinimum: true },
    1.5,
    1,
    `1: ${body} should be greater than 1`,
  ],
  [
    { type: 'number', maximum: 1, exclusiveMaximum: true },
    0.5,
    1,
    `1: ${body} should be less than 1`,
  ],
  [
    { type: 'integer', allOf: [{ minimum: 1 }, { maximum: 3 }] },
    3,
    4,
    `4: ${body} should be less than or equal to 3`,
    '"": "a" must validate all the schemas (allOf)',
  ],
  [
    { type: 'integer', anyOf: [{ maximum: 1 }, { minimum: 3 }] },
    3,
    2,
    '"": "a" must validate at least one schema (anyOf)',
    `2: ${body} should be less than or equal to 1`,
  ],
]
for (const [schema, keeps, breaks, ...stated] of bounds) {
  test(`a bound of ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(errorsOf(at(schema), { a: keeps }), [])
    const errors = errorsOf(at(schema), { a: breaks })
    const texts = errors.map((error) => error.replace(/^\S+: Invalid value: /, ''))
    assert.deepEqual(texts, stated)
  })
}

test('the alternative with the most passed checks is reported', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    anyOf: [{ required: ['x', 'y'] }, { properties: { a: { maxLength: 1 } } }],
  }
  assert.deepEqual(errorsOf(schema, { a: 'long', b: '' }), [
    '<nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
    'a: Invalid value: "long": a in body should be at most 1 chars long',
  ])
})

test('a pattern that takes backtracking engines forever is fast', () => {
  const spentMs = processorMs(() => {
    errorsOf(at({ type: 'string', pattern: '^(a+)+$' }), { a: `${'a'.repeat(5000)}b` })
  })
  assert.ok(spentMs < 1000, `${spentMs} ms`)
})

test('many wrong values are reported once each', () => {
  const schema: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }
  const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
  assert.equal(errorsOf(at(schema), { a: value }).length, 20_000)
})

const shownBounds: [schema: JsonSchema, value: Json, before: string, since: string][] = [
  [{ type: 'integer', maximum: 3 }, 7, '3', '7'],
  [{ type: 'number', minimum: 2.5 }, 1.5, '2.5', '1.5'],
  [{ type: 'integer', multipleOf: 3 }, 4, '3', '4'],
  [{ type: 'string', maxLength: 1 }, 'ab', '""', '"ab"'],
  [{ type: 'string', pattern: '^x' }, 'y', '""', '"y"'],
  [{ type: 'array', maxItems: 0 }, [1, 2], '""', '2'],
]
test('before 1.20 an error shows the violated bound, or nothing', () => {
  for (const [schema, value, before, since] of shownBounds)
    for (const [release, shown] of [
      [19, before],
      [20, since],
    ] as const)
      assert.match(
        errorsOf(at(schema), { a: value }, release)[0],
        new RegExp(`^a: Invalid value: ${shown.replaceAll('.', '[.]')}: a in body`),
      )
})

test('before 1.20 an error about no single field has no field name', () => {
  const schema: JsonSchema = { not: { type: 'string' } }
  const says = 'Invalid value: "": "a" must not validate the schema (not)'
  assert.deepEqual(errorsOf(at(schema), { a: 'b' }, 19), [`: ${says}`])
  assert.deepEqual(errorsOf(at(schema), { a: 'b' }, 20), [`<nil>: ${says}`])
})

test('a long list of allowed values is formatted only once', () => {
  const allowed = Array.from({ length: 2000 }, (_, i) => `a value that is allowed ${i}`)
  const schema: JsonSchema = { additionalProperties: { type: 'string', enum: allowed } }
  const value = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 'x']))
  let reported: string[] = []
  const spentMs = processorMs(() => {
    reported = errorsOf(at(schema), { a: value })
  })
  assert.ok(spentMs < 2000, `${spentMs} ms`)
  assert.match(reported[0], /^a[.]k0: Unsupported value: "x": supported values: "a value that is/)
  assert.ok(reported.join().length < 5_000_000)
})

test('numbers are searched only once in a long list of allowed values', () => {
  const allowed = Array.from({ length: 20_000 }, (_, i) => i)
  const schema: JsonSchema = { type: 'array', items: { type: 'number', enum: allowed } }
  const value = Array.from({ length: 100_000 }, () => 20_000.5)
  const spentMs = processorMs(() => assert.equal(errorsOf(at(schema), { a: value }).length, 1))
  assert.ok(spentMs < 2000, `${spentMs} ms`)
})
