import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { field, scalar, structOf } from '#schema/make-type.ts'
import { partialMetadata, partialMetadataList, partialMetadataType } from './partial-metadata.ts'
import { encodeObject, openEnvelope } from './protobuf.ts'
import {
  type Columns,
  defaultColumns,
  parseIncludeObject,
  type TableOptions,
  tableOf,
} from './table.ts'

const object: KubeObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', resourceVersion: '5', creationTimestamp: '2021-08-04T18:00:00Z' },
  data: { k: 'v' },
}
const item = { shown: object, cellsOf: object }
const columns: Columns = {
  columns: [{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }],
  cells: ({ metadata }, now) => [metadata.name, now],
  conditions: ({ data }) =>
    data === undefined ? [{ type: 'Completed', status: 'True' }] : undefined,
}
const usual: TableOptions = { version: 'v1', include: 'Metadata', headers: true, now: 7 }
const partial = (version: string) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
})

test('a table of a list', () => {
  const metadata = { resourceVersion: '9', continue: 'c', remainingItemCount: 0 }
  const table = tableOf([item], columns, metadata, usual)
  assert.deepEqual(table, {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.columns,
    rows: [{ cells: ['a', 7], object: partial('v1') }],
  })
  assert.deepEqual(Object.keys(table), [
    'kind',
    'apiVersion',
    'metadata',
    'columnDefinitions',
    'rows',
  ])
})

test('the objects in rows', () => {
  const rows = (options: Partial<TableOptions>) =>
    tableOf([item], columns, {}, { ...usual, ...options })['rows'][0].object
  assert.equal(rows({ include: 'None' }), null)
  assert.equal(rows({ include: 'Object' }), object)
  assert.deepEqual(rows({ version: 'v1beta1' }), partial('v1beta1'))
})

test('the metadata of a row may differ from that of the object', () => {
  const metadataOnly = { ...object, metadata: { name: 'less' } }
  const shownAs = (include: 'Metadata' | 'Object') =>
    tableOf([{ ...item, metadataOnly }], columns, {}, { ...usual, include })['rows'][0].object
      .metadata
  assert.deepEqual(shownAs('Metadata'), metadataOnly.metadata)
  assert.deepEqual(shownAs('Object'), object.metadata)
})

test('row conditions are between cells and object', () => {
  const bare: KubeObject = { metadata: {} }
  const row = tableOf([{ shown: bare, cellsOf: bare }], columns, {}, usual)['rows'][0]
  assert.deepEqual(Object.keys(row), ['cells', 'conditions', 'object'])
})

test('later events of a watch have no columns', () => {
  assert.equal(
    tableOf([item], columns, {}, { ...usual, headers: false })['columnDefinitions'],
    null,
  )
})

test('kinds without columns', () => {
  const table = tableOf([item], defaultColumns, { resourceVersion: '5' }, usual)
  assert.deepEqual(table['rows'][0].cells, ['a', '2021-08-04T18:00:00Z'])
  assert.equal(tableOf([], defaultColumns, {}, usual)['rows'], null)
  assert.deepEqual(tableOf([], columns, {}, usual)['rows'], [])
})

test('includeObject', () => {
  assert.equal(parseIncludeObject(null), 'Metadata')
  assert.equal(parseIncludeObject('None'), 'None')
  assert.throws(() => parseIncludeObject('x'), {
    message: `Unable to convert to Table as requested: includeObject: Invalid value: "x": must be 'Metadata', 'Object', 'None', or empty`,
  })
})

test('metadata alone', () => {
  assert.deepEqual(partialMetadata(object, 'v1'), partial('v1'))
  const list = partialMetadataList(
    [object],
    { resourceVersion: '9', remainingItemCount: 3 },
    'v1beta1',
  )
  assert.deepEqual(list, {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1beta1',
    metadata: { resourceVersion: '9' },
    items: [partial('v1beta1')],
  })
  assert.equal(partialMetadataList([], {}, 'v1')['items'], null)
})

test('in protobuf the older list of metadata has other field numbers', () => {
  const meta = structOf('ObjectMeta', [field('name', scalar('string'), 1, 'o')])
  const raw = (version: 'v1' | 'v1beta1') => {
    const list = partialMetadataList([{ metadata: { name: 'a' } }], {}, version)
    const type = partialMetadataType(meta, 'PartialObjectMetadataList', version)
    return openEnvelope(encodeObject(type, list)).raw.toString('hex')
  }
  const [item, metadata] = ['050a030a0161', '060a0012001a00']
  assert.equal(raw('v1'), `0a${metadata}12${item}`)
  assert.equal(raw('v1beta1'), `0a${item}12${metadata}`)
})
