import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import type { Columns } from '#codec/table.ts'
import type { Kind } from '#kinds/kind.ts'
import { entryOf } from '#watchcache/picture.suite.ts'
import { joinRows, rowOf, TableRows } from './table-rows.ts'

const kind = {} as Kind
const item = (name: string) => {
  const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name } } as KubeObject
  return { shown: object, cellsOf: object }
}
const columns: Columns = {
  columns: [],
  cells: ({ metadata }, now) => [metadata.name as string, now],
  conditions: ({ metadata }) =>
    metadata.name === 'done' ? [{ type: 'Completed', status: 'True' }] : [],
}

test('rows are joined with the texts before and after them, in any alphabet', () => {
  const names = ['a', 'grün', '日本', 'done']
  const cases = [
    ['None', 'v1', () => null],
    ['Object', 'v1', (name: string) => item(name).shown],
    [
      'Metadata',
      'v1beta1',
      (name: string) => ({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1beta1',
        metadata: { name },
      }),
    ],
  ] as const
  for (const [include, version, objectOf] of cases) {
    const table = new TableRows()
    const shown = { include, version, name: `${include} ${version}` }
    for (let time = 1; time <= 2; time++) {
      const rows = names.map((name, i) => {
        const entry = entryOf(name, i)
        return rowOf(table.keep(kind, entry, item(name)), columns, time, shown)
      })
      const whole = JSON.parse(joinRows('{"ä":["ö",', rows, ']}\n').toString())
      assert.deepEqual(
        whole['ä'].slice(1),
        names.map((name) => ({
          cells: [name, time],
          ...(name === 'done' && { conditions: [{ type: 'Completed', status: 'True' }] }),
          object: objectOf(name),
        })),
        `${include} ${version}`,
      )
    }
  }
})

test('a row keeps its object only if rows are sorted', () => {
  const kept = new TableRows().keep(kind, entryOf('a', 1), item('a'))
  const shown = { include: 'None', version: 'v1', name: 'None v1' } as const
  for (const order of [undefined, () => 0]) {
    const { cellsOf } = rowOf(kept, { ...columns, ...(order && { order }) }, 0, shown)
    assert.equal(cellsOf, order && kept.item.cellsOf)
  }
})

test('one version of an object in one kind is cached, and no more objects than a page', () => {
  const table = new TableRows()
  const entry = entryOf('a', 1)
  const kept = table.keep(kind, entry, item('a'))
  assert.equal(table.known(kind, entry), kept)
  assert.equal(table.known({} as Kind, entry), undefined)
  assert.equal(table.known(kind, { ...entry, revision: 2 }), undefined)
  for (let i = 0; i < 500; i++) table.keep(kind, entryOf(`b${i}`, i), item(`b${i}`))
  assert.equal(table.known(kind, entry), undefined)
})

test('fewer large objects are cached', () => {
  const table = new TableRows()
  const entries = Array.from({ length: 20 }, (_, i) => {
    const entry = entryOf(`c${i}`, i)
    return { ...entry, cut: { ...entry.cut, bytes: Buffer.alloc(1 << 20) } }
  })
  const known = () => entries.filter((entry) => table.known(kind, entry) !== undefined).length
  for (const entry of entries) table.keep(kind, entry, item(entry.name))
  assert.equal(known(), 8)
  // An object that is cached again is counted once.
  for (const entry of entries.slice(12)) table.keep(kind, entry, item(entry.name))
  assert.equal(known(), 8)
})
