import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageWithJson } from '#api/field-error.ts'
import { contextFor } from '#kinds/all-kinds/behaviour.suite.ts'
import type { JsonSchema, ValidationRule } from '#schema/structural/json-schema.ts'
import { customResourceDefinitionBehaviour as behaviour } from './behaviour.ts'

const schemaWith = (spec: JsonSchema): JsonSchema => ({ type: 'object', properties: { spec } })

function definition(spec: JsonSchema) {
  const version = { name: 'v1', served: true, storage: true }
  return {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com', resourceVersion: '1' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      versions: [{ ...version, schema: { openAPIV3Schema: schemaWith(spec) } }],
      conversion: { strategy: 'None' },
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  }
}

const context = contextFor({ release: 37, requestApiVersion: 'apiextensions.k8s.io/v1' }, [
  'CustomResourceValidationExpressions',
  'CRDValidationRatcheting',
])

function errorsOf(spec: JsonSchema, old?: JsonSchema): string[] {
  const next = definition(spec)
  const errors =
    old === undefined
      ? behaviour.validateCreate?.(next, context)
      : behaviour.validateUpdate?.(next, definition(old), context)
  return (errors ?? []).map((error) => `${error.field}: ${messageWithJson(error)}`)
}

const rule = (text: string, more: Partial<ValidationRule> = {}): ValidationRule => ({
  rule: text,
  ...more,
})
const ruled = (schema: JsonSchema, ...rules: ValidationRule[]): JsonSchema => ({
  ...schema,
  'x-kubernetes-validations': rules,
})
const text: JsonSchema = { type: 'string', maxLength: 10 }
const unlimited: JsonSchema = { type: 'array', items: { type: 'string' } }
const root = 'spec.validation.openAPIV3Schema.properties[spec]'
const at = `${root}.x-kubernetes-validations[0]`
const shown = (text: string) =>
  `{"Rule":"${text}","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`
const costly = "self.all(x, x == 'a' || x == 'b' || x == 'c' || x == 'd')"
const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

const rows: readonly (readonly [schema: JsonSchema, ...errors: string[]])[] = [
  [ruled(text, rule("self == 'a'"))],
  [ruled(text, rule(' ')), `${at}.rule: Required value: rule is not specified`],
  [
    ruled(text, rule('self')),
    `${at}.rule: Invalid value: ${shown('self')}: cel expression must evaluate to a bool`,
  ],
  [
    ruled(text, rule('self > 1')),
    `${at}.rule: Invalid value: ${shown('self \\u003e 1')}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_>_' applied to '(string, int)'\n | self > 1\n | .....^`,
  ],
  [
    ruled(text, rule("self.find('[') == ''")),
    `${at}.rule: Invalid value: ${shown("self.find('[') == ''")}: program instantiation failed: error parsing regexp: missing closing ]: \`[\``,
  ],
  [
    ruled(text, rule("self == 'a'", { fieldPath: '.b' })),
    `${at}.fieldPath: Invalid value: ".b": must be a valid path`,
  ],
  [
    ruled(text, rule("self == 'a'", { optionalOldSelf: true })),
    `${at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ],
  [
    ruled(unlimited, rule(costly)),
    `${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of 1.153433x ${advice}`,
  ],
  [
    ruled(unlimited, rule('self.all(x, self.all(y, x == y))')),
    `${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`,
    `${at}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    `spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
  ],
  [
    { type: 'array', maxItems: 5, items: ruled(text, rule('self == oldSelf')) },
    `${root}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${root}`,
  ],
  [
    ruled({ ...text, default: 'b' }, rule("self == 'a'")),
    `${root}.default: Invalid value: "b": failed rule: self == 'a'`,
  ],
]

for (const [schema, ...errors] of rows)
  test(`a rule of ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(errorsOf(schema), errors)
  })

test('a stored rule may use features that new rules may not, and may stay expensive', () => {
  const newer = ruled({ type: 'array', maxItems: 3, items: text }, rule("self.includes('a')"))
  assert.equal(errorsOf(newer).length, 1)
  assert.deepEqual(errorsOf(newer, newer), [])
  const expensive = ruled(unlimited, rule(costly))
  assert.deepEqual(errorsOf(expensive, expensive), [])
})
