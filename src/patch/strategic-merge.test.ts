import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import {
  atomicList,
  dict,
  field,
  listBy,
  scalar,
  setOf,
  struct,
  text,
} from '#patch/apply/sample.suite.ts'
import { applyStrategicMerge as applyStrategicMergeIn } from './strategic-merge.ts'

const applyStrategicMerge = (
  type: Parameters<typeof applyStrategicMergeIn>[0],
  document: Json,
  patch: Json,
) => applyStrategicMergeIn(type, document, patch, 22)

const volume = struct('Volume', [
  field('name', text, 'plain'),
  field('host', text),
  field('empty', dict(text)),
])
const item = struct('Item', [
  field('name', text, 'plain'),
  field('value', text),
  field('inner', struct('Inner', [field('a', text), field('b', text)])),
])
const strategy = struct('Strategy', [field('type', text), field('rolling', dict(text))])
const type = struct('io.example.Thing', [
  field('apiVersion', text),
  field('kind', text),
  field('items', listBy(['name'], item)),
  field('volumes', { ...listBy(['name'], volume), patchStrategy: 'merge,retainKeys' }),
  field('finalizers', setOf(text)),
  field('args', atomicList(text)),
  field('plain', atomicList(item)),
  field('labels', dict(text)),
  field('deep', dict(dict(text))),
  field('strategy', strategy, 'omit', { patchStrategy: 'retainKeys' }),
  field('replaced', struct('R', [field('a', text), field('b', text)]), 'omit', {
    patchStrategy: 'replace',
  }),
  field('raw', { ...scalar('any'), named: 'runtime.RawExtension' }, 'pointer'),
  field('count', scalar('int32'), 'pointer'),
  field('size', scalar('quantity')),
  field('phase', { ...text, named: 'v1.Phase' }),
  field('data', dict(scalar('bytes'))),
  field('when', scalar('time')),
  field('port', scalar('intOrString')),
  field('on', scalar('bool')),
])
const items = (...names: string[]) => names.map((name) => ({ name }))

const merged: [what: string, document: Json, patch: Json, result: Json][] = [
  [
    'items by key',
    { items: [{ name: 'a', value: '1' }] },
    { items: [{ name: 'a', value: '2' }] },
    { items: [{ name: 'a', value: '2' }] },
  ],
  [
    'a new item comes first',
    { items: items('a') },
    { items: items('b') },
    { items: items('b', 'a') },
  ],
  [
    'an item is deleted',
    { items: items('a', 'b') },
    { items: [{ $patch: 'delete', name: 'a' }] },
    { items: items('b') },
  ],
  [
    'all items are replaced',
    { items: items('a', 'b') },
    { items: [{ $patch: 'replace' }, { name: 'c' }] },
    { items: items('c') },
  ],
  [
    'null removes from an item',
    { items: [{ name: 'a', value: '1' }] },
    { items: [{ name: 'a', value: null }] },
    { items: items('a') },
  ],
  [
    'a map is replaced',
    { labels: { a: '1' } },
    { labels: { $patch: 'replace', b: '2' } },
    { labels: { b: '2' } },
  ],
  ['a map is emptied', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
  [
    'null for what is not there',
    { labels: { a: '1' } },
    { args: null, labels: { b: null } },
    { labels: { a: '1' } },
  ],
  ['a set grows', { finalizers: ['a'] }, { finalizers: ['b', 'a'] }, { finalizers: ['b', 'a'] }],
  [
    'a set shrinks',
    { finalizers: ['a', 'b'] },
    { '$deleteFromPrimitiveList/finalizers': ['a'] },
    { finalizers: ['b'] },
  ],
  ['a plain list is replaced', { args: ['a'] }, { args: ['b'] }, { args: ['b'] }],
  [
    'a list without strategy is replaced',
    { plain: items('a') },
    { plain: items('b') },
    { plain: items('b') },
  ],
  [
    'a map by strategy',
    { replaced: { a: '1' } },
    { replaced: { b: '2' } },
    { replaced: { b: '2' } },
  ],
  [
    'members to retain',
    { strategy: { type: 'a', rolling: { x: '1' } } },
    { strategy: { $retainKeys: ['type'], type: 'b' } },
    { strategy: { type: 'b' } },
  ],
  [
    'an order',
    { items: items('a', 'b', 'c') },
    { '$setElementOrder/items': items('c', 'a') },
    { items: items('b', 'c', 'a') },
  ],
  [
    'an order with changes',
    { items: items('a', 'b', 'c') },
    {
      '$setElementOrder/items': items('d', 'a'),
      items: [{ name: 'd' }, { $patch: 'delete', name: 'b' }],
    },
    { items: items('d', 'a', 'c') },
  ],
  [
    'an order of a set',
    { finalizers: ['a', 'b'] },
    { '$setElementOrder/finalizers': ['b', 'a'] },
    { finalizers: ['b', 'a'] },
  ],
  ['an order of items that do not exist', {}, { '$setElementOrder/items': items('a') }, {}],
  ['another type takes the place', { labels: { a: '1' } }, { labels: null }, {}],
  [
    'what the type has not is left out',
    {},
    { nope: 1, labels: { a: '1' } },
    { labels: { a: '1' } },
  ],
  ['numbers are cut to size', { count: 1 }, { count: 4294967297 }, { count: 1 }],
  [
    'kind cannot be patched',
    { kind: 'Thing', apiVersion: 'v1' },
    { kind: 'Other', apiVersion: 'v2' },
    { apiVersion: 'v1', kind: 'Thing' },
  ],
  ['nothing', { count: 1 }, null, { count: 1 }],
]
for (const [what, document, patch, result] of merged) {
  test(`strategic merge: ${what}`, () => {
    const before = JSON.stringify([document, patch])
    assert.deepEqual(applyStrategicMerge(type, document, patch), result)
    assert.equal(JSON.stringify([document, patch]), before)
  })
}

const unfit = (patch: string, why: string) =>
  ` "" is invalid: patch: Invalid value: ${JSON.stringify(patch)}: ${why}`
/** The same patch in the release before a change and in the release with it. */
const changed: [
  before: number,
  since: number,
  document: Json,
  patch: Json,
  older: Json,
  newer: Json,
][] = [
  [22, 23, {}, { '$deleteFromPrimitiveList/finalizers': ['a'] }, { finalizers: ['a'] }, {}],
  [
    22,
    23,
    { args: null },
    { '$deleteFromPrimitiveList/args': ['a'] },
    { args: ['a'] },
    { args: null },
  ],
  [
    23,
    24,
    {},
    { labels: { a: null, b: '1' } },
    { labels: { a: null, b: '1' } },
    { labels: { b: '1' } },
  ],
  [
    23,
    24,
    { items: [{ name: 'a' }] },
    { items: [{ name: 'a', inner: { a: null } }], deep: { x: { y: null } } },
    { items: [{ name: 'a', inner: { a: null } }], deep: { x: { y: null } } },
    { items: [{ name: 'a', inner: {} }], deep: { x: {} } },
  ],
  [
    27,
    28,
    {},
    { items: [{ name: 'a', $patch: 'delete' }] },
    { items: [{ name: 'a' }] },
    { items: [] },
  ],
  [27, 28, { count: 1 }, { count: { $patch: 'replace' } }, 'fails', {}],
  [27, 28, {}, { labels: { $patch: 'delete' } }, { labels: { $patch: 'delete' } }, {}],
  [
    27,
    28,
    {},
    { items: [{ name: 'a', $patch: 'x' }, { name: 'b' }], '$setElementOrder/items': [] },
    { items: [{ name: 'b' }, { name: 'a' }] },
    { items: [{ name: 'b' }] },
  ],
  [
    27,
    28,
    { args: ['a', 'b'] },
    { '$deleteFromPrimitiveList/args': ['a'] },
    { args: ['a'] },
    { args: ['b'] },
  ],
]
for (const [before, since, document, patch, older, newer] of changed)
  test(`strategic merge before and since 1.${since}: ${JSON.stringify(patch)}`, () => {
    const merge = (minor: number) => {
      try {
        return applyStrategicMergeIn(type, document, patch, minor)
      } catch {
        return 'fails'
      }
    }
    assert.deepEqual([merge(before), merge(since)], [older, newer])
  })

test('a message shows the patch without the nulls that were dropped', () => {
  const patch = { args: { a: null } }
  const shown = (minor: number) => {
    try {
      return applyStrategicMergeIn(type, {}, patch, minor)
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.match(String(shown(23)), /map\[args:map\[a:<nil>\]\]/)
  assert.match(String(shown(24)), /map\[args:map\[\]\]/)
})

const refused: [what: string, document: Json, patch: Json, code: number, message: string][] = [
  [
    'a list',
    {},
    [1],
    400,
    'json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  [
    'a number',
    {},
    1,
    400,
    'json: cannot unmarshal number into Go value of type map[string]interface {}',
  ],
  [
    'an unknown directive',
    { labels: { a: '1' } },
    { labels: { $patch: 'merge' } },
    500,
    'unknown patch type: merge in map: map[$patch:merge]',
  ],
  [
    'merging by directive',
    { items: items('a') },
    { items: [{ name: 'a', $patch: 'merge' }] },
    500,
    'merging lists cannot yet be specified in the patch',
  ],
  [
    'an item without its key',
    { items: items('a') },
    { items: [{ value: '1' }] },
    500,
    'map: map[value:1] does not contain declared merge key: name',
  ],
  [
    'a mixed list',
    { finalizers: ['a'] },
    { finalizers: [1] },
    500,
    'list element types are not identical: [[a] [1]]',
  ],
  [
    'lists in lists',
    { finalizers: ['a'] },
    { finalizers: [['a']] },
    500,
    'list element types are not identical: [[a] [[a]]]',
  ],
  [
    'retaining less than is given',
    { strategy: { type: 'a' } },
    { strategy: { $retainKeys: [], type: 'b' } },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'retaining by text',
    { strategy: { type: 'a' } },
    { strategy: { $retainKeys: 'type' } },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'an order without a name',
    {},
    { $setElementOrder: [] },
    400,
    'invalid patch format of setElementOrder list',
  ],
  [
    'a deletion without a name',
    {},
    { $deleteFromPrimitiveList: ['a'] },
    400,
    'invalid patch format of primitive list',
  ],
  [
    'an order by text',
    { items: items('a') },
    { '$setElementOrder/items': 'a' },
    500,
    'expected a []interface {}, but received a string',
  ],
  [
    'an order the patch does not keep',
    { items: items('a') },
    { '$setElementOrder/items': items('a', 'b'), items: items('b', 'a') },
    500,
    "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
  ],
  [
    'maps in maps',
    { deep: { a: { b: '1' } } },
    { deep: { a: { c: '2' } } },
    500,
    'merging an object in json but data type is not struct, instead is: map',
  ],
  [
    'maps in raw values',
    { raw: { a: { b: 1 } } },
    { raw: { a: { c: 2 } } },
    500,
    'unable to find api field in struct RawExtension for the json field "a"',
  ],
  [
    'a number for a list',
    {},
    { items: 7 },
    422,
    unfit('map[items:7]', 'cannot restore slice from int64'),
  ],
  [
    'text for a map',
    {},
    { labels: 'x' },
    422,
    unfit('map[labels:x]', 'cannot restore map from string'),
  ],
  [
    'a list for a struct',
    {},
    { strategy: ['x'] },
    422,
    unfit('map[strategy:[x]]', 'cannot restore struct from: slice'),
  ],
  [
    'a boolean for text',
    {},
    { phase: true },
    422,
    unfit('map[phase:true]', 'unrecognized type: string'),
  ],
  [
    'a number for text',
    {},
    { phase: 3 },
    422,
    unfit('map[phase:3]', 'cannot convert int64 to v1.Phase'),
  ],
  ['text for a number', {}, { count: 'x' }, 422, unfit('map[count:x]', 'unrecognized type: int32')],
  [
    'a fraction for an integer',
    {},
    { count: 1.5 },
    422,
    unfit('map[count:1.5]', 'cannot convert float64 to int32'),
  ],
  ['a number for a boolean', {}, { on: 1 }, 422, unfit('map[on:1]', 'unrecognized type: bool')],
  [
    'no base64',
    {},
    { data: { a: '25%' } },
    422,
    unfit('map[data:map[a:25%]]', 'error decoding from json: illegal base64 data at input byte 2'),
  ],
  [
    'a list for bytes',
    {},
    { data: { a: ['x'] } },
    422,
    unfit('map[data:map[a:[x]]]', 'unrecognized type: uint8'),
  ],
  [
    'a map for bytes',
    {},
    { data: { a: { b: '1' } } },
    422,
    unfit('map[data:map[a:map[b:1]]]', 'cannot restore slice from map'),
  ],
  [
    'no quantity',
    {},
    { size: true },
    422,
    unfit(
      'map[size:true]',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
  ],
  [
    'a map for a time',
    {},
    { when: { a: 'b' } },
    422,
    unfit('map[when:map[a:b]]', 'json: cannot unmarshal object into Go value of type string'),
  ],
  [
    'no time',
    {},
    { when: 'other' },
    422,
    unfit(
      'map[when:other]',
      'parsing time "other" as "2006-01-02T15:04:05Z07:00": cannot parse "other" as "2006"',
    ),
  ],
  [
    'no time from its middle on',
    {},
    { when: '2020-01-02t03:04:05z' },
    422,
    unfit(
      'map[when:2020-01-02t03:04:05z]',
      'parsing time "2020-01-02t03:04:05z" as "2006-01-02T15:04:05Z07:00": cannot parse "t03:04:05z" as "T"',
    ),
  ],
  [
    'an invalid time',
    {},
    { when: '2020-02-30T03:04:05Z' },
    422,
    unfit(
      'map[when:2020-02-30T03:04:05Z]',
      'parsing time "2020-02-30T03:04:05Z": day out of range',
    ),
  ],
  [
    'a boolean for a port',
    {},
    { port: true },
    422,
    unfit('map[port:true]', 'json: cannot unmarshal bool into Go value of type int32'),
  ],
]
for (const [what, document, patch, code, message] of refused) {
  test(`strategic merge refuses ${what}`, () => {
    assert.throws(() => applyStrategicMerge(type, document, patch), { code, message })
  })
}

test('names of inherited members are ordinary names', () => {
  const patched = applyStrategicMerge(
    type,
    { labels: { a: '1' } },
    JSON.parse('{"labels":{"__proto__":"2","constructor":"3"}}'),
  )
  assert.equal(JSON.stringify(patched), '{"labels":{"a":"1","__proto__":"2","constructor":"3"}}')
})

const many = (prefix: string, also = {}) =>
  Array.from({ length: 15_000 }, (_, i) => ({ name: `${prefix}${i}`, ...also }))
const names = (prefix: string) => many(prefix).map(({ name }) => name)
const large: [what: string, document: Json, patch: Json][] = [
  ['items', { items: many('a') }, { items: many('b') }],
  ['items in an order', {}, { items: many('b'), '$setElementOrder/items': [] }],
  ['deleted items', { items: many('a') }, { items: many('b', { $patch: 'delete' }) }],
  ['plain items', { finalizers: names('a') }, { finalizers: names('b') }],
  ['plain items twice', { finalizers: ['x'] }, { finalizers: [...names('a'), ...names('a')] }],
  [
    'plain items that are removed',
    { finalizers: names('a') },
    { '$deleteFromPrimitiveList/finalizers': names('b') },
  ],
]
for (const [what, document, patch] of large) {
  test(`many ${what} cost one pass`, () => {
    const took = processorMs(() => applyStrategicMerge(type, document, patch))
    assert.ok(took < 2000, `${took} ms`)
  })
}
