/** Live lists with several items of the same key: since 1.29 they are one leaf. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { compareObjects } from './compare.ts'
import { applyConfiguration, recordUpdate } from './field-manager.ts'
import { mergeObjects } from './merge.ts'
import { thing, thingKind, thingOf } from './sample.suite.ts'
import { toFieldSet } from './to-field-set.ts'

const kind = { ...thingKind, release: 29 }
const who = { manager: 'a', subresource: '', now: '2021-01-01T00:00:01Z' }
const containers = (...images: string[]) =>
  thingOf({ spec: { containers: images.map((image) => ({ name: 'c', image })) } })
const key = 'k:{"name":"c"}'
const within = (found: unknown): Json =>
  ({ 'f:spec': { 'f:containers': { [key]: found } } }) as Json
const isIn = (set: object): boolean => JSON.stringify(set).includes(JSON.stringify(key))

test('the items are owned as one', () => {
  const [entry] = recordUpdate(kind, undefined, containers('x', 'y'), who)
  assert.deepEqual(entry?.fieldsV1, within({}))
  const set = toFieldSet(thing, containers('x', 'y') as unknown as Json)
  assert.deepEqual((set['f:spec'] as typeof set)['f:containers'], { [key]: {} })
})

type Row = [before: string[], after: string[], added: boolean, modified: boolean, removed: boolean]
const rows: Row[] = [
  [['x', 'y'], ['x', 'y'], false, false, false],
  [['x', 'y'], ['x', 'z'], false, true, false],
  [['x', 'y'], ['x'], true, false, true],
  [['x'], ['x', 'y'], true, false, true],
  [['x', 'y'], [], false, false, true],
]
for (const [before, after, ...expected] of rows)
  test(`from ${before} to ${after || 'none'}`, () => {
    const [old, next] = [containers(...before), containers(...after)] as unknown as [Json, Json]
    const { added, modified, removed } = compareObjects(thing, old, next)
    assert.deepEqual([isIn(added), isIn(modified), isIn(removed)], expected)
  })

test('a configured item replaces all of them', () => {
  const merged = (live: string[], config: string[]) =>
    mergeObjects(
      thing,
      containers(...live) as unknown as Json,
      containers(...config) as unknown as Json,
    ) as { spec: { containers: { image: string }[] } }
  const images = (live: string[], config: string[]) =>
    (merged(live, config).spec.containers ?? []).map(({ image }) => image)
  assert.deepEqual(images(['x', 'y'], ['z']), ['z'])
  assert.deepEqual(images(['x', 'y'], []), ['x', 'y'])
})

test('a configuration must not have duplicates', () => {
  assert.throws(
    () =>
      applyConfiguration(kind, containers('x', 'y'), containers('x', 'y'), { ...who, force: true }),
    /duplicate entries for key \[name="c"\]/,
  )
})

test('an item that loses its duplicates belongs to the writer, and its list keeps its owner', () => {
  const live = containers('x', 'y')
  const managed = recordUpdate(kind, undefined, live, who)
  const before = { ...live, metadata: { ...live.metadata, managedFields: managed } }
  const [entry] = recordUpdate(kind, before, containers('x'), {
    ...who,
    now: '2021-01-01T00:00:02Z',
  })
  assert.deepEqual(entry?.fieldsV1, within({ '.': {}, 'f:image': {}, 'f:name': {} }))
})
