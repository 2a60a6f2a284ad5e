import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { definitionWarnings } from './definition-warnings.ts'
import { checkSelectableFields, keptSelections } from './selectable-field-rules.ts'

const object = (properties: Loose): Loose => ({ type: 'object', properties })
const openAPIV3Schema = object({
  metadata: object({ name: { type: 'string' } }),
  spec: object({
    size: { type: 'integer' },
    on: { type: 'boolean' },
    tone: { type: 'string' },
    share: { type: 'number' },
    inner: object({ text: { type: 'string' } }),
    ...Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, { type: 'string' }])),
  }),
})
const fields = (paths: readonly string[]) => paths.map((jsonPath) => ({ jsonPath }))
const many = Array.from({ length: 9 }, (_, i) => `.spec.f${i}`)

function check(paths: readonly string[], validation: Loose | undefined = { openAPIV3Schema }) {
  const path = FieldPath.of('spec.selectableFields')
  return checkSelectableFields(fields(paths), validation, 'needs a schema', path, false).map(
    ({ field, message }) => `${field.replace('spec.selectableFields', '')}: ${message}`,
  )
}

const rows: readonly [paths: string[], ...errors: string[]][] = [
  [['.spec.size', '.spec.on', '.spec.tone', '.spec.inner.text']],
  [[''], '[0].jsonPath: Required value'],
  [
    ['spec.size'],
    '[0].jsonPath: Invalid value: "spec.size": is an invalid path: expected [ or . but got: spec',
  ],
  [
    ["['spec']"],
    `[0].jsonPath: Invalid value: "['spec']": is an invalid path: array notation is not allowed`,
  ],
  [
    ['.spec.nope'],
    '[0].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field',
  ],
  [
    ['.metadata.name'],
    '[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
  ],
  [
    ['.spec.share'],
    '[0].jsonPath: Invalid value: ".spec.share": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
  ],
  [['.spec.on', '.spec.on'], '[1].jsonPath: Duplicate value: ".spec.on"'],
  [many, ': Too many: 9: must have at most 8 items'],
]
for (const [paths, ...errors] of rows)
  test(`selectable fields ${paths}`, () => assert.deepEqual(check(paths), errors))

test('selectable fields need a schema', () => {
  const path = FieldPath.of('f')
  const [error] = checkSelectableFields(fields(['.spec.on']), undefined, 'needs one', path, false)
  assert.equal(error?.message, 'Invalid value: "": needs one')
})

test('since 1.35 an unchanged version may keep too many selectable fields', () => {
  const spec = { versions: [{ name: 'v1', selectableFields: fields(many) }] }
  const kept = (minor: number, old: Loose = spec) => [
    ...keptSelections(spec, old, releaseOf(minor)),
  ]
  assert.deepEqual([kept(34), kept(35), kept(35, { versions: [] })], [[], ['v1'], []])
})

const definition = (schema: Loose): KubeObject => ({
  metadata: { name: 'gears.example.com' },
  spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: object({ a: schema }) } }] },
})
const warnings = (minor: number, schema: Loose, old?: Loose): string[] =>
  definitionWarnings(definition(schema), old && definition(old), releaseOf(minor))

test('unknown formats of texts give warnings since 1.34, those of numbers since 1.36', () => {
  const [text, number] = [
    { type: 'string', format: 'odd' },
    { type: 'integer', format: 'double' },
  ]
  const found = [33, 34, 36].map((minor) => [...warnings(minor, text), ...warnings(minor, number)])
  assert.deepEqual(found, [
    [],
    ['unrecognized format "odd"'],
    ['unrecognized format "odd"', 'unrecognized format "double"'],
  ])
  assert.deepEqual(warnings(36, text, text), [])
  assert.deepEqual(warnings(36, { type: 'integer', format: 'int32' }), [])
})

test('sets of objects give a warning since 1.37', () => {
  const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } }
  assert.deepEqual(warnings(36, set), [])
  assert.deepEqual(warnings(37, set), [
    'x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules',
  ])
})
