import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
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
    'nothing said',
    { pod: {} },
    'pod.apiVersion: Required value: must not be empty',
    'pod.kind: Required value: must not be empty',
  ],
  [
    'what is missing is said before what is wrong',
    { pod: { apiVersion: 'a/b/c' } },
    'pod.kind: Required value: must not be empty',
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
    'list[1].apiVersion: Required value: must not be empty',
    '[other].kind: Required value: must not be empty',
  ],
]

test('objects inside objects say what they are', () => {
  for (const [name, value, ...want] of rows) {
    const said = checkEmbedded(schema, value).map(({ field, message }) => `${field}: ${message}`)
    assert.deepEqual(said, want, name)
  }
})

test('their metadata is as any metadata, and needs no name', () => {
  const of = (metadata: Json) =>
    checkEmbedded(schema, { pod: { apiVersion: 'v1', kind: 'Pod', metadata } }).map(
      ({ field }) => field,
    )
  assert.deepEqual(of({}), [])
  assert.deepEqual(of({ labels: { 'a b': 'c' } }), ['pod.metadata.labels'])
})
