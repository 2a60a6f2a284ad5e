/** Events, bookmarks and errors of a watch in every representation. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { expired } from '#api/status-error.ts'
import type { MetaVersion } from '#codec/partial-metadata.ts'
import { openEnvelope } from '#codec/protobuf.ts'
import type { Kind } from '#kinds/kind.ts'
import { bookmarkObject } from './bookmark.ts'
import type { Exchange } from '#http/exchange.ts'
import { errorFrame, framerFor } from './framer.ts'
import { startServed } from '#http/served.fixture.ts'
import type { Shape } from '#http/response/shape.ts'

const served = await startServed()
after(() => served.stop())
await served.verbs.create('configmaps', { metadata: { name: 'a' }, data: { k: 'v' } })
await served.verbs.settled()

const maps = served.kind('', 'v1', 'configmaps')
const cache = await served.verbs.server.cache.of(maps.resource)
const entry = cache.get(`${maps.resource.storagePrefix}/default/a`)
assert.ok(entry)

type As = NonNullable<Shape['as']>['kind']
const shapeOf = (format: Shape['format'], kind?: As, version: MetaVersion = 'v1'): Shape => ({
  format,
  as: kind && ({ kind, version } as Shape['as']),
  pretty: false,
  contentType: format,
  plainJson: format === 'json' && kind === undefined,
})
const framer = (shape: Shape, kind: Kind = maps, query = '') =>
  framerFor(kind, shape, served.parts, { query: new URLSearchParams(query) } as Exchange)

/** The contents of a frame: the event type, and the type and metadata of its object. */
function read(frame: Buffer, format: Shape['format']): { type: string; object: Loose } {
  if (format !== 'protobuf') {
    assert.equal(frame.at(-1), 10)
    return JSON.parse(frame.toString())
  }
  assert.equal(frame.readUInt32BE(0), frame.length - 4)
  const [, type] = /(ADDED|BOOKMARK|ERROR)/.exec(frame.toString('latin1')) as unknown as string[]
  const { apiVersion, kind, raw } = openEnvelope(frame.subarray(frame.indexOf('k8s\0')))
  const [, resourceVersion] = /\x32\x05(\d{5})/.exec(raw.toString('latin1')) ?? []
  return { type, object: { kind, apiVersion, metadata: { resourceVersion } } }
}

const rows: [format: Shape['format'], as: As | undefined, version: MetaVersion, type: string][] = [
  ['json', undefined, 'v1', 'v1 ConfigMap'],
  ['json', 'PartialObjectMetadata', 'v1', 'meta.k8s.io/v1 PartialObjectMetadata'],
  ['json', 'PartialObjectMetadata', 'v1beta1', 'meta.k8s.io/v1beta1 PartialObjectMetadata'],
  ['json', 'Table', 'v1', 'meta.k8s.io/v1 Table'],
  ['json', 'Table', 'v1beta1', 'meta.k8s.io/v1beta1 Table'],
  ['protobuf', undefined, 'v1', 'v1 ConfigMap'],
  ['protobuf', 'PartialObjectMetadata', 'v1', 'meta.k8s.io/v1 PartialObjectMetadata'],
]
for (const [format, as, version, expected] of rows) {
  test(`${format} as ${as ?? 'it is'} ${version}: events and bookmarks are of one type`, async () => {
    const { frame, bookmark } = framer(shapeOf(format, as, version))
    const frames = [await frame('ADDED', entry, 12345), bookmark(23456) as Buffer]
    const [event, mark] = frames.map((one) => read(one, format))
    assert.deepEqual([event.type, mark.type], ['ADDED', 'BOOKMARK'])
    for (const [{ object }, revision] of [
      [event, '12345'],
      [mark, '23456'],
    ] as const) {
      assert.equal(`${object.apiVersion} ${object.kind}`, expected)
      assert.equal(object.metadata.resourceVersion, revision)
    }
  })
}

test('cached frames have memory of their own', async () => {
  for (const format of ['json', 'protobuf'] as const) {
    const kept = await framer(shapeOf(format)).frame('ADDED', entry, 12345)
    assert.equal(kept.buffer.byteLength, kept.length, format)
  }
})

test('only the first frame of a table watch has columns, even if it is a bookmark', async () => {
  for (const order of ['event first', 'bookmark first']) {
    const { frame, bookmark } = framer(shapeOf('json', 'Table'))
    const event = async (): Promise<Buffer> => frame('ADDED', entry, 12345)
    const mark = () => bookmark(23456) as Buffer
    const frames: Buffer[] =
      order === 'event first' ? [await event(), mark()] : [mark(), await event()]
    const [first, second] = frames.map((one) => read(one, 'json').object)
    assert.deepEqual(
      first.columnDefinitions?.map(({ name }: Loose) => name),
      ['Name', 'Data', 'Age'],
    )
    assert.equal(second.columnDefinitions, null)
  }
})

const bare = { resourceVersion: '23456', creationTimestamp: null }
const metadataAlone = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: bare,
}
const included: [query: string, object: unknown][] = [
  ['', metadataAlone],
  ['includeObject=None', null],
  ['includeObject=Object', { kind: 'ConfigMap', apiVersion: 'v1', metadata: bare }],
]
for (const [query, object] of included) {
  test(`a bookmark in a table is an empty row: ${query || 'by default'}`, () => {
    const { bookmark } = framer(shapeOf('json', 'Table'), maps, query)
    const { rows } = read(bookmark(23456) as Buffer, 'json').object
    assert.deepEqual(rows, [{ cells: ['', 0, '<unknown>'], object: object as KubeObject }])
  })
}

test('a table with invalid options is rejected before anything is sent', () => {
  const make = () => framer(shapeOf('json', 'Table'), maps, 'includeObject=x')
  assert.throws(make, /includeObject: Invalid value: "x"/)
})

test('a watch cannot send a list of metadata', async () => {
  const { frame, bookmark } = framer(shapeOf('json', 'PartialObjectMetadataList'))
  assert.equal((await frame('ADDED', entry, 12345)).length, 0)
  assert.equal(bookmark(23456), undefined)
})

const empty: [group: string, version: string, plural: string, rest: object][] = [
  ['', 'v1', 'configmaps', {}],
  ['', 'v1', 'services', { spec: {}, status: { loadBalancer: {} } }],
  ['', 'v1', 'pods', { spec: { containers: null }, status: {} }],
  ['rbac.authorization.k8s.io', 'v1', 'clusterroles', { rules: null }],
]
for (const [group, version, plural, rest] of empty) {
  test(`a bookmark of ${plural} is their empty value`, () => {
    const kind = served.kind(group, version, plural)
    const { apiVersion, kind: name } = kind
    const expected = { kind: name, apiVersion, metadata: bare, ...rest }
    const stated = read(framer(shapeOf('json'), kind).bookmark(23456) as Buffer, 'json')
    assert.equal(JSON.stringify(stated.object), JSON.stringify(expected))
  })
}

test('every kind has a bookmark in every representation of its watch', () => {
  const { catalog } = served.verbs.server
  for (const kind of [...catalog.resources()].flatMap(({ kinds }) => [...kinds])) {
    for (const as of [undefined, 'PartialObjectMetadata', 'Table'] as const) {
      const { object } = read(framer(shapeOf('json', as), kind).bookmark(23456) as Buffer, 'json')
      assert.equal(object.metadata.resourceVersion, '23456', `${kind.plural} ${as}`)
    }
  }
})

test('a bookmark of a custom kind has its kind and its resourceVersion', () => {
  const custom = { kind: 'Gear', apiVersion: 'example.com/v1', itemsCarryType: true } as Kind
  assert.deepEqual(bookmarkObject(custom, 7), {
    apiVersion: 'example.com/v1',
    kind: 'Gear',
    metadata: { resourceVersion: '7' },
  })
})

test('the error that ends a watch has the format of its events', () => {
  const gone = expired('too old resource version: 1 (2)')
  const { type, object } = read(errorFrame(shapeOf('json'), gone), 'json')
  assert.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired'])
  const inProtobuf = read(errorFrame(shapeOf('protobuf'), gone), 'protobuf')
  assert.deepEqual([inProtobuf.type, inProtobuf.object.kind], ['ERROR', 'Status'])
})
