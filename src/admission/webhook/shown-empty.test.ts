import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, KubeObject } from '#api/object-meta.ts'
import { conform } from '#schema/conform.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import { withEmpty } from './shown-empty.ts'

const text = scalar('string')
const rule = structOf('rule', [
  field('verbs', listOf(text), 1, ''),
  field('names', listOf(text), 2, 'o'),
])
const role = structOf('role', [
  field('rules', listOf(rule), 1, ''),
  field('byName', mapOf(rule), 2, ''),
  field('labels', mapOf(text), 3, 'o'),
])

/** What is written, and what a webhook sees. */
const rows: readonly (readonly [written: Json, shown: Json])[] = [
  [{}, { rules: null, byName: null }],
  [
    { rules: null, byName: null },
    { rules: null, byName: null },
  ],
  [
    { rules: [], byName: {}, labels: {} },
    { rules: [], byName: {} },
  ],
  [
    { rules: [{ verbs: [], names: [] }, {}, { verbs: ['get'] }] },
    { rules: [{ verbs: [] }, { verbs: null }, { verbs: ['get'] }], byName: null },
  ],
  [
    { byName: { a: { verbs: [] }, __proto__a: {} } },
    { rules: null, byName: { a: { verbs: [] }, __proto__a: { verbs: null } } },
  ],
]
for (const [written, shown] of rows) {
  test(`${JSON.stringify(written)} is shown as ${JSON.stringify(shown)}`, () => {
    const object = conform(role, written).value as unknown as KubeObject
    const before = JSON.stringify(object)
    assert.deepEqual(withEmpty(role, object), shown)
    assert.equal(JSON.stringify(object), before, 'it is a copy')
  })
}
