import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from '#api/field-path.ts'
import type { Json } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkDefaults } from './default-rules.ts'
import { checkEmbedded } from './embedded.ts'
import type { JsonSchema } from './json-schema.ts'

const pod: JsonSchema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}
const schema: JsonSchema = {
  type: 'object',
  properties: { pod, list: { type: 'array', items: pod } },
  additionalProperties: pod,
}

const rows: [string, Json, ...string[]][] = [
  ['whole', { pod: { apiVersion: 'v1', kind: 'Pod' } }],
  ['no object', { pod: 1 }],
  [
    'neither apiVersion nor kind',
    { pod: {} },
    'pod.apiVersion: Required value',
    'pod.kind: Required value',
  ],
  [
    'missing fields are reported before invalid ones',
    { pod: { apiVersion: 'a/b/c' } },
    'pod.kind: Required value',
    'pod.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  [
    'empty and of another type',
    { pod: { apiVersion: '', kind: 1 } },
    'pod.apiVersion: Invalid value: "": must not be empty',
    'pod.kind: Invalid value: 1: must be a string',
  ],
  [
    'in lists and maps',
    { list: [{ apiVersion: 'v1', kind: 'Pod' }, { kind: 'Pod' }], other: { apiVersion: 'v1' } },
    'list[1].apiVersion: Required value',
    '[other].kind: Required value',
  ],
]

test('embedded objects must have kind and apiVersion', () => {
  for (const [name, value, ...want] of rows) {
    const stated = checkEmbedded(schema, value, releaseOf(37)).map(
      ({ field, message }) => `${field}: ${message}`,
    )
    assert.deepEqual(stated, want, name)
  }
})

test('what is missing has a detail until 1.33', () => {
  const stated = (minor: number) =>
    checkEmbedded(schema, { pod: { kind: 'Pod' } }, releaseOf(minor)).map(({ message }) => message)
  assert.deepEqual(stated(33), ['Required value: must not be empty'])
  assert.deepEqual(stated(34), ['Required value'])
})

test('the metadata of embedded objects is validated, and needs no name', () => {
  const of = (metadata: Json) =>
    checkEmbedded(schema, { pod: { apiVersion: 'v1', kind: 'Pod', metadata } }, releaseOf(37)).map(
      ({ field }) => field,
    )
  assert.deepEqual(of({}), [])
  assert.deepEqual(of({ labels: { 'a b': 'c' } }), ['pod.metadata.labels'])
})

const tidied: [given: Json, want: Json][] = [
  [{ name: 'x', bogus: 1 }, { name: 'x' }],
  [null, {}],
  [{ labels: { a: null, b: 'c' }, annotations: {} }, { labels: { a: '', b: 'c' } }],
  [
    { creationTimestamp: '2020-01-01T01:00:00+01:00', deletionTimestamp: null, generation: 0 },
    { creationTimestamp: '2020-01-01T00:00:00Z' },
  ],
  [{ deletionGracePeriodSeconds: 0 }, { deletionGracePeriodSeconds: 0 }],
  [
    {
      ownerReferences: [{ uid: 'u', name: 'n', kind: 'K', apiVersion: 'v1', bogus: 1 }],
      finalizers: [],
    },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }] },
  ],
  [
    {
      managedFields: [
        { operation: 'Update', fieldsV1: { 'f:a': {} }, fieldsType: 'FieldsV1', bogus: 1 },
      ],
    },
    { managedFields: [{ fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} }, operation: 'Update' }] },
  ],
]

test('metadata in defaults is normalised, and nothing else changes', () => {
  for (const [metadata, want] of tidied) {
    const whole = { apiVersion: 'v1', kind: 'Pod', bogus: 1 }
    const given = { pod: { ...whole, metadata }, list: [{ ...whole, metadata }] }
    const errors = checkDefaults(
      { type: 'object', properties: { spec: { ...schema, default: given } } },
      FieldPath.root,
      { pruned: true, metadataProblem: () => undefined, release: 22 },
    )
    assert.deepEqual(errors, [])
    const made = { ...whole, metadata: want }
    assert.equal(JSON.stringify(given), JSON.stringify({ pod: made, list: [made] }))
  }
})

test('more embedded objects may be invalid than a call has arguments', () => {
  const list = Array.from({ length: 150_000 }, () => ({}))
  assert.equal(checkEmbedded(schema, { list }, releaseOf(37)).length, 300_000)
})
