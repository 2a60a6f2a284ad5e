import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { applyJsonPatch } from './json-patch.ts'
import type { JsonMap } from './json-map.ts'
import { applyMergePatch } from './merge-patch.ts'
import { allSorted, mergedOrder, operatedOrder } from './patched-order.ts'

const document: JsonMap = { kind: 'K', data: { z: '1', b: '2' }, metadata: { name: 'n', a: {} } }

const merges: [patch: Json, text: string][] = [
  [{}, '{"data":{"z":"1","b":"2"},"kind":"K","metadata":{"name":"n","a":{}}}'],
  [
    { data: { c: { y: 1, x: 2 } } },
    '{"data":{"b":"2","c":{"x":2,"y":1},"z":"1"},"kind":"K","metadata":{"name":"n","a":{}}}',
  ],
  [
    { data: [{ y: 1, x: 2 }] },
    '{"data":[{"y":1,"x":2}],"kind":"K","metadata":{"name":"n","a":{}}}',
  ],
  [
    { metadata: { name: { y: 1, x: 2 } }, data: null },
    '{"kind":"K","metadata":{"a":{},"name":{"x":2,"y":1}}}',
  ],
]
for (const [patch, text] of merges) {
  test(`what ${JSON.stringify(patch)} goes through is sorted`, () => {
    const result = applyMergePatch(document, patch, 22)
    assert.equal(JSON.stringify(mergedOrder(result, document, patch)), text)
  })
}

const operations: [patch: Json, text: string][] = [
  [
    [{ op: 'add', path: '/data/c', value: { y: 1, x: 2 } }],
    '{"data":{"b":"2","c":{"y":1,"x":2},"z":"1"},"kind":"K","metadata":{"name":"n","a":{}}}',
  ],
  [
    [{ op: 'copy', from: '/metadata/name', path: '/x' }],
    '{"data":{"z":"1","b":"2"},"kind":"K","metadata":{"a":{},"name":"n"},"x":"n"}',
  ],
]
for (const [patch, text] of operations) {
  test(`the way of ${JSON.stringify(patch)} is sorted`, () => {
    assert.equal(JSON.stringify(operatedOrder(applyJsonPatch(document, patch, 22), patch)), text)
  })
}

test('a custom object is sorted at all levels', () => {
  const text = '{"data":{"b":"2","z":"1"},"kind":"K","metadata":{"a":{},"name":"n"}}'
  assert.equal(JSON.stringify(allSorted(document)), text)
})

test('many paths through many members take one pass', () => {
  const members = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 1]))
  const patch: Json = Array.from({ length: 10_000 }, (_, i) => ({ op: 'add', path: `/a/b${i}/c` }))
  const took = processorMs(() => operatedOrder({ a: members }, patch))
  assert.ok(took < 2000, `${took} ms`)
})
