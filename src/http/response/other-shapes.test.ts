/** Values that are not resources, in each representation that can be requested. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { decodeMessage, openEnvelope } from '#codec/protobuf.ts'
import type { Transform } from '#codec/media-type.ts'
import { kindOf } from '#admission/requests.suite.ts'
import type { Answer } from '#verbs/answer.ts'
import { entryOf } from '#watchcache/picture.suite.ts'
import { encodeList } from './other-lists.ts'
import { encodeValue } from './other-shapes.ts'
import type { Shape } from './shape.ts'

const metadata = { name: 'a', namespace: 'b' }
const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec: { replicas: 2 } }
const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', metadata, spec: {} }
const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
const { type } = kindOf('v1', 'configmaps')

const shapeOf = (format: Shape['format'], kind?: Transform['kind']): Shape => ({
  format,
  as: kind === undefined ? undefined : { kind, version: 'v1' },
  pretty: false,
  contentType: '',
  plainJson: false,
})

const noList = 'you requested PartialObjectMetadataList, but the requested object is not a list'
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
type Value = Parameters<typeof encodeValue>[0]
const shown: [Value, Transform['kind'] | undefined, ofCustom: boolean, expected: unknown][] = [
  [scale, undefined, false, scale],
  [scale, 'PartialObjectMetadata', false, partial],
  [scale, 'PartialObjectMetadata', true, partial],
  [scale, 'PartialObjectMetadataList', false, `${noList} (*autoscaling.Scale)`],
  [scale, 'PartialObjectMetadataList', true, `${noList} (*v1.Scale)`],
  [review, 'PartialObjectMetadataList', false, `${noList} (*authentication.TokenReview)`],
  [status, 'PartialObjectMetadata', false, status],
  [status, 'PartialObjectMetadataList', false, status],
  [status, 'Table', false, status],
]
for (const [value, as, ofCustom, expected] of shown) {
  test(`a ${value.kind}${ofCustom ? ' of a custom kind' : ''} as ${as ?? 'it is'}`, () => {
    const make = () =>
      JSON.parse(encodeValue(value, shapeOf('json', as), type, ofCustom).toString())
    if (typeof expected !== 'string') return assert.deepEqual(make(), expected)
    assert.throws(make, (error) => error instanceof ApiError && error.message === expected)
  })
}

test('the metadata of a value in protobuf', () => {
  const bytes = encodeValue(scale, shapeOf('protobuf', 'PartialObjectMetadata'), type)
  const { kind, apiVersion, raw } = openEnvelope(bytes)
  assert.deepEqual([kind, apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1'])
  const { name, namespace } = decodeMessage(type, raw).metadata
  assert.deepEqual({ name, namespace }, metadata)
})

test('concurrent lists of metadata decode one object at a time each', async () => {
  const parsed: string[] = []
  const made = ['a', 'b'].map((list) => {
    const parseStored = () => {
      parsed.push(list)
      return { metadata: { name: list }, data: {} }
    }
    const entries = [1, 2, 3].map((revision) => ({ ...entryOf(list, revision), apiVersion: 'v1' }))
    const answer = { is: 'list', kind: kindOf('v1', 'configmaps'), entries, continueToken: '' }
    return encodeList(
      answer as unknown as Answer & { is: 'list' },
      shapeOf('json', 'PartialObjectMetadataList'),
      { server: { parseStored } } as never,
      { target: { path: '' }, status: 0, wire: { signal: new AbortController().signal } } as never,
    )
  })
  for (const [i, bytes] of (await Promise.all(made)).entries()) {
    const { items } = JSON.parse(String(bytes))
    const own = { name: 'ab'[i] }
    assert.deepEqual(
      items.map(({ metadata: { name }, data }: typeof scale & { data?: object }) => ({
        name,
        data,
      })),
      Array(3).fill({ ...own, data: undefined }),
    )
  }
  // The second list begins before the first one continues.
  assert.match(parsed.join(''), /^ab/)
})
