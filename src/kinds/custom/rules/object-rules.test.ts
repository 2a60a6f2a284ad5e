import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '#api/field-error.ts'
import type { Json } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { JsonSchema, ValidationRule } from '#schema/structural/json-schema.ts'
import { Correlation } from './correlation.ts'
import { ObjectRules } from './object-rules.ts'
import { untimed } from './rule-timer.ts'

const text: JsonSchema = { type: 'string' }
const integer: JsonSchema = { type: 'integer' }

/** A resource whose spec has the schema with the rules. */
const resource = (spec: JsonSchema, ...rules: ValidationRule[]): JsonSchema => ({
  type: 'object',
  properties: { spec: { ...spec, 'x-kubernetes-validations': rules } },
})
const fields = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
})

interface Options {
  readonly release?: number
  readonly ratchets?: boolean
  readonly errors?: readonly FieldError[]
}

/** The errors, and the warnings after an arrow. */
function check(schema: JsonSchema, next: Json, old?: Json, options: Options = {}): string[] {
  const { release = 37, ratchets = true, errors = [] } = options
  const warnings: string[] = []
  const rules = new ObjectRules(schema, { release: releaseOf(release), ratchets, timed: untimed })
  const wrap = (spec: Json | undefined): Json =>
    spec === undefined
      ? { metadata: { name: 'a' } }
      : { apiVersion: 'a.example.com/v1', kind: 'A', metadata: { name: 'a' }, spec }
  const before = old === undefined ? undefined : wrap(old)
  const correlation =
    before === undefined || !ratchets ? undefined : new Correlation(wrap(next), before, schema)
  const warn = (one: string) => warnings.push(`→ ${one}`)
  const found = rules.check(wrap(next), before, errors, warn, correlation)
  return [...found.map(({ field, message }) => `${field}: ${message}`), ...warnings]
}

type Row = readonly [title: string, found: string[], expected: string[]]

const positive: ValidationRule = { rule: 'self > 0' }
const message = (messageExpression: string): ValidationRule => ({ ...positive, messageExpression })
const replicas = fields({ replicas: integer })
const reads: ValidationRule[] = [{ rule: 'oldSelf == self || true' }]
const texts: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: text }
const keyed: JsonSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: {
    ...fields({ k: text, v: integer }),
    'x-kubernetes-validations': [{ rule: 'self.v > 1' }],
  },
}

const rows: readonly Row[] = [
  [
    'a scalar is shown',
    check(resource(integer, positive), -1),
    ['spec: Invalid value: -1: failed rule: self > 0'],
  ],
  [
    'its type is shown before 1.35',
    check(resource(integer, positive), -1, undefined, { release: 34 }),
    ['spec: Invalid value: "integer": failed rule: self > 0'],
  ],
  [
    'an object is not shown',
    check(resource(replicas, { rule: 'self.replicas > 0', message: ' too few ' }), { replicas: 0 }),
    ['spec: Invalid value: too few'],
  ],
  [
    'a rule has a reason and a path',
    check(
      resource(replicas, {
        rule: 'self.replicas > 0',
        reason: 'FieldValueForbidden',
        fieldPath: '.replicas',
      }),
      { replicas: 0 },
    ),
    ['spec.replicas: Forbidden: failed rule: self.replicas > 0'],
  ],
  [
    'a message expression makes the message',
    check(resource(integer, message("'not ' + string(self)")), -1),
    ['spec: Invalid value: -1: not -1'],
  ],
  [
    'a message of two lines is not used',
    check(resource(integer, message("'a\\nb'")), -1),
    ['spec: Invalid value: -1: failed rule: self > 0'],
  ],
  [
    'a failed evaluation',
    check(resource(replicas, { rule: 'self.replicas > 0' }), {}),
    ['spec: Invalid value: "object": no such key: replicas evaluating rule: self.replicas > 0'],
  ],
  [
    'a rule that exceeds its cost ends all',
    check(
      resource(
        { type: 'array', items: integer },
        { rule: 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))' },
        { rule: 'false' },
      ),
      Array.from({ length: 200 }, () => 1),
    ),
    [
      `spec: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(a, self.all(b, self.all(c, a + b + c >= 0)))`,
    ],
  ],
  [
    'a transition rule does not run for a new object',
    check(resource(integer, { rule: 'self == oldSelf' }), 1),
    [],
  ],
  [
    'a transition rule compares with the old object',
    check(resource(integer, { rule: 'self == oldSelf', message: 'immutable' }), 1, 2),
    ['spec: Invalid value: 1: immutable'],
  ],
  [
    'a message reads oldSelf where a rule of the schema does',
    check(
      resource(text, { rule: 'self > "5"', messageExpression: '"was " + oldSelf' }, ...reads),
      '2',
      '9',
    ),
    ['spec: Invalid value: "2": was 9'],
  ],
  [
    'without such a rule it does not',
    check(resource(text, { rule: 'self > "5"', messageExpression: '"was " + oldSelf' }), '2', '9'),
    ['spec: Invalid value: "2": failed rule: self > "5"'],
  ],
  [
    'a sum of sets is a set',
    check(resource(texts, { rule: 'oldSelf + self == self' }), ['b', 'a'], ['a']),
    [],
  ],
  [
    'duplicates in a set make a difference',
    check(resource(texts, { rule: 'self == ["a", "a"]' }), ['a', 'b']),
    ['spec: Invalid value: failed rule: self == ["a", "a"]'],
  ],
  [
    'in 1.36 they do not',
    check(resource(texts, { rule: 'self == ["a", "a"]' }), ['a', 'b'], undefined, { release: 36 }),
    [],
  ],
  [
    'an optional oldSelf runs for a new object',
    check(resource(integer, { rule: 'oldSelf.hasValue()', optionalOldSelf: true }), 1),
    ['spec: Invalid value: 1: failed rule: oldSelf.hasValue()'],
  ],
  [
    'a value that did not change is a warning',
    check(resource(integer, positive), -1, -1),
    ['→ spec: Invalid value: -1: failed rule: self > 0'],
  ],
  [
    'it is an error without ratcheting',
    check(resource(integer, positive), -1, -1, { ratchets: false }),
    ['spec: Invalid value: -1: failed rule: self > 0'],
  ],
  [
    'elements of a list of type map are found by their keys',
    check(
      resource(keyed),
      [
        { k: 'b', v: 0 },
        { k: 'a', v: 0 },
      ],
      [{ k: 'a', v: 0 }],
    ),
    [
      'spec[0]: Invalid value: failed rule: self.v > 1',
      '→ spec[1]: Invalid value: failed rule: self.v > 1',
    ],
  ],
  [
    'rules do not run on an object that is wrong already',
    check(resource(integer, positive), -1, undefined, {
      errors: [{ type: 'FieldValueRequired', field: 'a', message: 'Required value' }],
    }),
    [
      '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ],
  ],
  [
    'the root of a resource has its name',
    check(
      { type: 'object', 'x-kubernetes-validations': [{ rule: "self.metadata.name == 'b'" }] },
      1,
    ),
    ["<nil>: Invalid value: failed rule: self.metadata.name == 'b'"],
  ],
]

for (const [title, found, expected] of rows)
  test(title, () => {
    assert.deepEqual(found, expected)
  })
