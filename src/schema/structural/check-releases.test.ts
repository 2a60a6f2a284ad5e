import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { type Before, Checker } from './check.ts'
import { type Errors, fieldErrors } from './check-result.ts'
import type { JsonSchema } from './json-schema.ts'

function check(schema: JsonSchema, value: Json, minor: number, before?: Before): FieldError[] {
  const release = releaseOf(minor)
  const errors: Errors = new Map()
  const object: JsonSchema = { type: 'object', properties: { a: schema } }
  new Checker({ release }).of(object)({ a: value }, '', errors, before)
  return fieldErrors(errors, release)
}

const show = ({ field, message, type }: FieldError): string =>
  `${field}: ${message} (${type.replace('FieldValue', '')})`
const texts = (schema: JsonSchema, value: Json, minor: number): string[] =>
  check(schema, value, minor).map(show)

checkBoundaries<readonly [schema: JsonSchema, value: Json], string[]>(
  (minor, [schema, value]) => texts(schema, value, minor),
  [
    [
      'a format of integers for a text',
      [16, 17],
      [{ type: 'string', format: 'int64' }, true],
      ['a: Invalid value: "": a in body must be of type int64: "" (Invalid)'],
      ['a: Invalid value: "boolean": a in body must be of type string: "boolean" (Invalid)'],
    ],
    [
      'the index of an item',
      [23, 24],
      [{ type: 'array', items: { type: 'integer', maximum: 1 } }, [1, 2]],
      ['a: Invalid value: 2: a in body should be less than or equal to 1 (Invalid)'],
      ['a[1]: Invalid value: 2: a[1] in body should be less than or equal to 1 (Invalid)'],
    ],
    [
      'a wrong type',
      [23, 24],
      [{ type: 'integer' }, 'x'],
      ['a: Invalid value: "string": a in body must be of type integer: "string" (Invalid)'],
      ['a: Invalid value: "string": a in body must be of type integer: "string" (TypeInvalid)'],
    ],
    [
      'a text that is too long',
      [23, 24],
      [{ type: 'string', maxLength: 1 }, 'xx'],
      ['a: Invalid value: "xx": a in body should be at most 1 chars long (Invalid)'],
      ['a: Too long: may not be longer than 1 (TooLong)'],
    ],
    [
      'the limit of a text in bytes',
      [31, 32],
      [{ type: 'string', maxLength: 1 }, 'xx'],
      ['a: Too long: may not be longer than 1 (TooLong)'],
      ['a: Too long: may not be more than 1 bytes (TooLong)'],
    ],
    [
      'a limit of one byte',
      [33, 34],
      [{ type: 'string', maxLength: 1 }, 'xx'],
      ['a: Too long: may not be more than 1 bytes (TooLong)'],
      ['a: Too long: may not be more than 1 byte (TooLong)'],
    ],
    [
      'a limit of one item',
      [33, 34],
      [{ type: 'array', maxItems: 1 }, [1, 2]],
      ['a: Too many: 2: must have at most 1 items (TooMany)'],
      ['a: Too many: 2: must have at most 1 item (TooMany)'],
    ],
    [
      'the number of properties',
      [23, 24],
      [{ type: 'object', minProperties: 1 }, {}],
      ['a: Invalid value: 1: a in body should have at least 1 properties (Invalid)'],
      ['a: Invalid value: 0: a in body should have at least 1 properties (Invalid)'],
    ],
    [
      'too many properties are checked inside',
      [27, 28],
      [{ type: 'object', maxProperties: 0, properties: { b: { type: 'string' } } }, { b: 1 }],
      ['a: Too many: 1: must have at most 0 items (TooMany)'],
      [
        'a: Too many: 1: must have at most 0 items (TooMany)',
        'a.b: Invalid value: "integer": a.b in body must be of type string: "integer" (TypeInvalid)',
      ],
    ],
    [
      'a factor that is zero as an integer',
      [26, 27],
      [{ type: 'integer', multipleOf: 0.5 }, 3],
      [],
      ['a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0 (Invalid)'],
    ],
    [
      'the range of int32',
      [35, 36],
      [{ type: 'integer', format: 'int32' }, 2 ** 31],
      [],
      [
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a (Invalid)',
      ],
    ],
    [
      'a bound that is not an integer',
      [35, 36],
      [{ type: 'integer', maximum: 1.5 }, 2],
      ['a: Invalid value: 2: a in body should be less than or equal to 1 (Invalid)'],
      [
        '<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in a (Invalid)',
        'a: Invalid value: 2: a in body should be less than or equal to 1.5 (Invalid)',
      ],
    ],
    [
      'a format of texts for a number',
      [35, 36],
      [{ type: 'integer', format: 'date' }, true],
      ['a: Invalid value: "": a in body must be of type date: "" (TypeInvalid)'],
      ['a: Invalid value: "boolean": a in body must be of type integer: "boolean" (TypeInvalid)'],
    ],
    [
      'the format of a name',
      [34, 35],
      [{ type: 'string', format: 'k8s-short-name' }, 'A'],
      [],
      ['a: Invalid value: "A": a in body must be of type k8s-short-name: "A" (TypeInvalid)'],
    ],
  ],
)

/** Results that are equal in all releases, except below the field. */
const sameBut = (field: string): Before => ({
  key: (name) => (name === field ? undefined : sameBut(field)),
  index: () => sameBut(field),
  isSame: true,
})
const nothingSame: Before = { key: () => nothingSame, index: () => nothingSame, isSame: false }

test('unchanged values may violate rules', () => {
  const schema: JsonSchema = { type: 'object', properties: { b: { type: 'string' } } }
  const count = (before?: Before) => check(schema, { b: 1 }, 37, before).length
  assert.deepEqual([count(), count(nothingSame), count(sameBut('x'))], [1, 1, 0])
})

test("errors in a part of an object have the part's path", () => {
  const errors: Errors = new Map()
  const release = releaseOf(37)
  new Checker({ release }).of({ not: {}, required: ['b'] })({}, '', errors)
  assert.deepEqual(fieldErrors(errors, release, FieldPath.of('status')).map(show), [
    'status: Invalid value: "": "" must not validate the schema (not) (Invalid)',
    'status.b: Required value (Required)',
  ])
})
