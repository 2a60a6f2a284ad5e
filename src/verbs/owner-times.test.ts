import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { keepOwnerTimes } from './owner-times.ts'

const before = '2020-01-01T00:00:00Z'
const now = '2020-01-01T00:00:09Z'
const map = (time: string, data: Loose, more: Loose = {}): KubeObject => ({
  metadata: {
    name: 'a',
    ...more,
    managedFields: [{ manager: 'm', operation: 'Apply', time, fieldsV1: { 'f:data': {} } }],
  },
  data,
})

for (const [why, release, next, time] of [
  ['nothing else changes', 25, map(now, { a: '1' }), before],
  ['nothing else changes, but the release writes times', 24, map(now, { a: '1' }), now],
  ['the data changes', 25, map(now, { a: '2' }), now],
  ['metadata changes', 25, map(now, { a: '1' }, { labels: { a: 'b' } }), now],
] as const) {
  test(`1.${release}, ${why}: the owner's time is ${time}`, () => {
    keepOwnerTimes(next, map(before, { a: '1' }), release)
    assert.equal(next.metadata.managedFields?.[0]?.time, time)
  })
}
