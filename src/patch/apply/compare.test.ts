/** Changes of atomic lists whose items differ only in their written form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { rememberText } from '#api/written-text.ts'
import { compareObjects, isSame } from './compare.ts'
import { atomicList, dict, field, scalar, struct } from './sample.suite.ts'

const item = struct('Item', [field('max', dict(scalar('quantity'))), field('at', scalar('time'))])
const range = struct('Range', [field('limits', atomicList(item)), field('one', item)])
const at = '2020-01-02T03:04:05Z'

const rows: [
  what: string,
  field: 'limits' | 'one',
  key: 'cpu' | 'at',
  text: string,
  same: boolean,
][] = [
  ['an amount in such a list', 'limits', 'cpu', '1000m', false],
  ['an amount elsewhere', 'one', 'cpu', '1000m', true],
  ['a fraction of a second in such a list', 'limits', 'at', '2020-01-02T03:04:05.5Z', false],
  ['another zone in such a list', 'limits', 'at', '2020-01-02T04:04:05+01:00', true],
  ['a fraction elsewhere', 'one', 'at', '2020-01-02T03:04:05.5Z', true],
]
for (const [what, place, key, text, same] of rows)
  test(`${what} that is written otherwise is ${same ? 'no' : 'a'} change`, () => {
    const object = () => ({ limits: [{ max: { cpu: '1' }, at }], one: { max: { cpu: '1' }, at } })
    const after = object()
    const held = place === 'one' ? after.one : after.limits[0]
    rememberText(key === 'cpu' ? held.max : held, key, text)
    const [old, next] = [object(), after] as unknown as [KubeObject, KubeObject]
    assert.equal(isSame(compareObjects(range, old, next)), same)
  })
