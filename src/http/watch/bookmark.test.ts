import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeMessage, openEnvelope } from '#codec/protobuf.ts'
import { partialMetadataType } from '#codec/partial-metadata.ts'
import type { Struct, Type } from '#schema/type.ts'
import { type Served, startServed } from '#http/served.fixture.ts'

let served: Served
before(async () => {
  served = await startServed()
  await served.verbs.create('configmaps', { metadata: { name: 'a' } })
})
after(() => served.stop())

const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const ended = 'watch=1&allowWatchBookmarks=true&timeoutSeconds=1&labelSelector=none'
const watched = (path: string, accept: string) =>
  served.ask('GET', `${path}?${ended}`, { headers: { accept } })

test('a bookmark has the representation of the other events of its watch', async () => {
  const metadata = { resourceVersion: /^\d+$/, creationTimestamp: null }
  const cases: [path: string, accept: string, expected: object][] = [
    [
      '/api/v1/pods',
      'application/json',
      { kind: 'Pod', apiVersion: 'v1', spec: { containers: null }, status: {} },
    ],
    [
      '/api/v1/pods',
      `application/json;${partial}`,
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' },
    ],
  ]
  const check = async ([path, accept, expected]: (typeof cases)[number]) => {
    const { text } = await watched(path, accept)
    const { type, object } = JSON.parse(text.trimEnd().split('\n').at(-1) as string)
    assert.equal(type, 'BOOKMARK', `${path} ${accept}`)
    assert.match(object.metadata.resourceVersion, metadata.resourceVersion)
    const { metadata: shown, ...rest } = object
    assert.deepEqual(rest, expected)
    assert.deepEqual(Object.keys(shown).sort(), Object.keys(metadata).sort())
  }
  await Promise.all(cases.map(check))
})

test('a bookmark can be protobuf metadata, as garbage collectors request', async () => {
  const { body } = await watched('/api/v1/pods', `application/vnd.kubernetes.protobuf;${partial}`)
  const envelope = openEnvelope(body.subarray(body.indexOf('k8s\0')))
  assert.deepEqual(
    [envelope.apiVersion, envelope.kind],
    ['meta.k8s.io/v1', 'PartialObjectMetadata'],
  )
  const type = served.kind('', 'v1', 'pods').type as Struct
  const objectMeta = type.byName?.get('metadata')?.type as Type
  const read = decodeMessage(
    partialMetadataType(objectMeta, 'PartialObjectMetadata', 'v1'),
    envelope.raw,
  )
  assert.match(
    (read as { metadata: { resourceVersion: string } }).metadata.resourceVersion,
    /^\d+$/,
  )
})
