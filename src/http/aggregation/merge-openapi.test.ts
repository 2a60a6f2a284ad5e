import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeDocuments } from './merge-openapi.ts'

const ref = (name: string) => ({ schema: { $ref: `#/definitions/${name}` } })
const kinds = (...groups: string[]) => ({
  'x-kubernetes-group-version-kind': groups.map((group) => ({ group, version: 'v1', kind: 'K' })),
})
const text = { type: 'string' }
const number = { type: 'integer' }

interface Row {
  what: string
  ours: Record<string, unknown>
  theirs: Record<string, unknown>
  paths: Record<string, unknown>
  /** Our definitions and theirs, merged. */
  expected: Record<string, unknown>
  /** Their paths after the merge, if a name changed. */
  taken?: Record<string, unknown>
}

const x = '/apis/g/v1/x'
const rows: Row[] = [
  {
    what: 'paths below /apis/ that nobody has, of whatever group',
    ours: {},
    theirs: {},
    paths: { [x]: 1, '/apis/h/v1/y': 2, '/api/v1/z': 3, '/apis/own': 'theirs', '/version/': 4 },
    taken: { [x]: 1, '/apis/h/v1/y': 2 },
    expected: {},
  },
  {
    what: 'what is needed by whatever way, and what was never needed by any',
    ours: {},
    theirs: { A: { items: ref('B') }, B: { items: ref('A') }, Dropped: text, Free: text },
    paths: { [x]: ref('A'), '/api/v1/z': ref('Dropped') },
    taken: { [x]: ref('A') },
    expected: { A: { items: ref('B') }, B: { items: ref('A') }, Free: text },
  },
  {
    what: 'nothing at all where all of its paths are taken',
    ours: {},
    theirs: { Free: text },
    paths: { '/apis/own': 'theirs' },
    taken: {},
    expected: {},
  },
  {
    what: 'the same definition stays one',
    ours: { A: text },
    theirs: { A: text },
    paths: { [x]: ref('A') },
    expected: { A: text },
  },
  {
    what: 'the same definition in other words stays one, in ours',
    ours: { A: { properties: { description: { ...text, description: 'a' } } } },
    theirs: { A: { description: 'b', properties: { description: text } } },
    paths: { [x]: ref('A') },
    expected: { A: { properties: { description: { ...text, description: 'a' } } } },
  },
  {
    what: 'a field that is called description is no description',
    ours: { A: { properties: {} } },
    theirs: { A: { properties: { description: text } } },
    paths: { [x]: ref('A') },
    taken: { [x]: ref('A_v2') },
    expected: { A: { properties: {} }, A_v2: { properties: { description: text } } },
  },
  {
    what: 'another definition of the same name gets a name, wherever it is needed',
    ours: { A: text },
    theirs: { A: number, B: { items: ref('A') } },
    paths: { [x]: [ref('A'), ref('B')] },
    taken: { [x]: [ref('A_v2'), ref('B')] },
    expected: { A: text, A_v2: number, B: { items: ref('A_v2') } },
  },
  {
    what: 'a name given to the same before is taken again',
    ours: { A: text, A_v2: { type: 'boolean' }, A_v3: number },
    theirs: { A: number },
    paths: { [x]: ref('A') },
    taken: { [x]: ref('A_v3') },
    expected: { A: text, A_v2: { type: 'boolean' }, A_v3: number },
  },
  {
    what: 'a name that they use themselves is not given',
    ours: { A: text },
    theirs: { A: number, A_v2: { type: 'boolean' }, A_v3: text },
    paths: { [x]: [ref('A'), ref('A_v2'), ref('A_v3')] },
    taken: { [x]: [ref('A_v4'), ref('A_v2'), ref('A_v3')] },
    expected: { A: text, A_v2: { type: 'boolean' }, A_v3: text, A_v4: number },
  },
  {
    what: 'a definition that differs in its kinds alone has the kinds of both',
    ours: { A: { ...text, ...kinds('b', 'd') } },
    theirs: { A: { ...text, ...kinds('d', 'c', 'a') } },
    paths: { [x]: ref('A') },
    expected: { A: { ...text, ...kinds('a', 'b', 'c', 'd') } },
  },
  {
    what: 'kinds of a definition that had none',
    ours: { A: text, B: { ...text, ...kinds('b') } },
    theirs: { A: { ...text, ...kinds('a') }, B: text },
    paths: { [x]: [ref('A'), ref('B')] },
    expected: { A: { ...text, ...kinds('a') }, B: { ...text, ...kinds('b') } },
  },
  {
    what: 'defaults are left out before anything is compared; a field may be called so',
    ours: { A: text },
    theirs: {
      A: { ...text, default: 'x' },
      B: {
        properties: { default: { ...text, default: 1 }, list: { items: { default: 2 } } },
        allOf: [{ default: 3 }],
        additionalProperties: { default: 4 },
        enum: [{ default: 5 }],
      },
    },
    paths: { [x]: [ref('A'), ref('B')] },
    expected: {
      A: text,
      B: {
        properties: { default: text, list: { items: {} } },
        allOf: [{}],
        additionalProperties: {},
        enum: [{ default: 5 }],
      },
    },
  },
  {
    what: 'names that every object has',
    ours: {},
    theirs: { constructor: text, ['__proto__']: number },
    paths: { [x]: [ref('constructor'), ref('__proto__')] },
    expected: { constructor: text, ['__proto__']: number },
  },
]

for (const { what, ours, theirs, paths, expected, taken = paths } of rows) {
  test(what, () => {
    const before = { swagger: '2.0', paths: { '/apis/own': 'ours' }, definitions: ours }
    const copies = structuredClone([before, theirs])
    const merged = mergeDocuments(before, { paths, definitions: theirs })
    assert.deepEqual(
      Object.entries(merged.definitions ?? {}).sort(),
      Object.entries(expected).sort(),
    )
    assert.deepEqual(merged.paths, { '/apis/own': 'ours', ...taken })
    assert.equal(merged.swagger, '2.0')
    assert.deepEqual([before, theirs], copies)
    const names = Object.keys(merged.paths ?? {})
    assert.deepEqual(names, names.toSorted())
  })
}
