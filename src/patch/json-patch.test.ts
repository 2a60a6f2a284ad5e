import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { applyJsonPatch as applyJsonPatchIn, type OperationError } from './json-patch.ts'

const applyJsonPatch = (document: Json, patch: Json, release = 22) =>
  applyJsonPatchIn(document, patch, release)

const document: Json = { a: { b: 1, 'c/d': 2, 'e~f': 3 }, list: ['x', 'y'], nothing: null }

const applied: [what: string, patch: Json, result: Json][] = [
  [
    'add a member',
    [{ op: 'add', path: '/a/z', value: 1 }],
    { ...document, a: { ...(document.a as object), z: 1 } },
  ],
  [
    'add at an index',
    [{ op: 'add', path: '/list/1', value: 'n' }],
    { ...document, list: ['x', 'n', 'y'] },
  ],
  [
    'add at the end',
    [{ op: 'add', path: '/list/-', value: 'n' }],
    { ...document, list: ['x', 'y', 'n'] },
  ],
  [
    'add before the end',
    [{ op: 'add', path: '/list/-1', value: 'n' }],
    { ...document, list: ['x', 'y', 'n'] },
  ],
  ['add without a value', [{ op: 'add', path: '/z' }], { ...document, z: null }],
  ['remove', [{ op: 'remove', path: '/list/0' }], { ...document, list: ['y'] }],
  [
    'escapes',
    [
      { op: 'remove', path: '/a/c~1d' },
      { op: 'remove', path: '/a/e~0f' },
    ],
    { ...document, a: { b: 1 } },
  ],
  ['replace', [{ op: 'replace', path: '/a', value: 2 }], { ...document, a: 2 }],
  ['replace what is missing', [{ op: 'replace', path: '/z', value: 2 }], { ...document, z: 2 }],
  [
    'move',
    [{ op: 'move', from: '/list', path: '/a/l' }],
    { a: { ...(document.a as object), l: ['x', 'y'] }, nothing: null },
  ],
  [
    'copy is deep',
    [
      { op: 'copy', from: '/list', path: '/l' },
      { op: 'remove', path: '/l/0' },
    ],
    { ...document, l: ['y'] },
  ],
  ['test', [{ op: 'test', path: '/a/b', value: 1 }], document],
  [
    'test for null',
    [
      { op: 'test', path: '/nothing', value: null },
      { op: 'test', path: '/missing', value: null },
    ],
    document,
  ],
  ['no operation', [], document],
  ['null', null, document],
]
for (const [what, patch, result] of applied) {
  test(`JSON patch: ${what}`, () => {
    const before = JSON.stringify(document)
    assert.deepEqual(applyJsonPatch(document, patch), result)
    assert.equal(JSON.stringify(document), before)
  })
}

const refused: [patch: Json, why: string][] = [
  [[{ op: 'test', path: '/a/b', value: 2 }], 'testing value /a/b failed: test failed'],
  [[{ op: 'test', path: '/a/b' }], 'testing value /a/b failed: test failed'],
  [
    [{ op: 'test', path: '/x/y', value: 2 }],
    'test operation does not apply: is missing path: /x/y: missing value',
  ],
  [
    [{ op: 'remove', path: '/a/z' }],
    "error in remove for path: '/a/z': Unable to remove nonexistent key: z: missing value",
  ],
  [
    [{ op: 'remove', path: '/list/9' }],
    "error in remove for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
  ],
  [
    [{ op: 'add', path: '/list/x', value: 1 }],
    `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
  [
    [{ op: 'add', path: '/x/y', value: 1 }],
    'add operation does not apply: doc is missing path: "/x/y": missing value',
  ],
  [
    [{ op: 'add', path: '', value: 1 }],
    'add operation does not apply: doc is missing path: "": missing value',
  ],
  [[{ op: 'add', value: 1 }], 'add operation failed to decode path: missing value'],
  [
    [{ op: 'replace', path: 5, value: 1 }],
    'replace operation failed to decode path: json: cannot unmarshal number into Go value of type string',
  ],
  [
    [{ op: 'replace', path: '/list/5', value: 1 }],
    'replace operation does not apply: doc is missing key: /list/5: missing value',
  ],
  [
    [{ op: 'move', path: '/z' }],
    'move operation failed to decode from: operation, missing from field: missing value',
  ],
  [
    [{ op: 'copy', from: '/x/y', path: '/z' }],
    'copy operation does not apply: doc is missing from path: /x/y: missing value',
  ],
  [[{ op: 'nope', path: '/a' }], 'Unexpected kind: nope'],
  [[{ path: '/a' }], 'Unexpected kind: unknown'],
]
for (const [patch, why] of refused) {
  test(`JSON patch refused: ${why}`, () => {
    assert.throws(
      () => applyJsonPatch(document, patch),
      (error: ApiError) => {
        assert.equal(error.code, 422)
        assert.equal(
          error.message,
          'the server rejected our request due to an error in our request',
        )
        assert.equal((error.cause as OperationError).message, why)
        return true
      },
    )
  })
}

const notPatches: [Json, number, string][] = [
  [{}, 400, 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
  ['x', 400, 'json: cannot unmarshal string into Go value of type jsonpatch.Patch'],
  [[1], 400, 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  [
    Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/x', value: null })),
    413,
    'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  ],
]
for (const [patch, code, message] of notPatches) {
  test(`no JSON patch: ${message}`, () =>
    assert.throws(() => applyJsonPatch(document, patch), { code, message }))
}

test('before 1.16 a test compares only the members of the found value', () => {
  const patch = [{ op: 'test', path: '/m', value: { a: [{ b: 1, c: 2 }], d: 3 } }]
  const contained = { m: { a: [{ b: 1 }] } }
  assert.deepEqual(applyJsonPatch(contained, patch, 15), contained)
  assert.throws(() => applyJsonPatch(contained, patch, 16), { code: 422 })
  assert.throws(() => applyJsonPatch({ m: { a: [{ b: 2 }] } }, patch, 15), { code: 422 })
})

test('the growth by copy operations is limited', () => {
  const patch = Array.from({ length: 40 }, (_, i) => ({
    op: 'copy',
    from: '',
    path: `/x${i}`,
  })).map(({ path }, i) => ({ op: 'copy', from: i === 0 ? '/a' : `/x${i - 1}`, path }))
  const big = { a: 'x'.repeat(200_000) }
  assert.throws(
    () => applyJsonPatch(big, patch),
    (error: ApiError) => /exceeding the limit 3145728/.test((error.cause as Error).message),
  )
})

test('names of inherited members are ordinary names', () => {
  const patched = applyJsonPatch({ a: {} }, [
    { op: 'add', path: '/a/__proto__', value: { x: 1 } },
    { op: 'add', path: '/a/constructor', value: 'c' },
  ]) as { a: object }
  assert.deepEqual(Object.keys(patched.a), ['__proto__', 'constructor'])
  assert.throws(() => applyJsonPatch({}, [{ op: 'remove', path: '/toString' }]), ApiError)
})

const nested = (depth: number): Json => (depth === 1 ? {} : { b: nested(depth - 1) })
const deep: [what: string, op: object][] = [
  ['add', { op: 'add', path: '/a/b/b/c', value: nested(298) }],
  ['replace', { op: 'replace', path: '/a/b/b', value: nested(299) }],
  ['copy', { op: 'copy', from: '/a', path: '/a/b/b/c' }],
  ['move', { op: 'move', from: '/long', path: '/a/b/b/c' }],
]
for (const [what, operation] of deep)
  test(`${what} makes nothing deeper than a body may be`, () => {
    const document = { a: nested(299), long: nested(297) }
    assert.throws(
      () => applyJsonPatch(document, [operation] as Json),
      (error: ApiError) => error.code === 422 && /max depth$/.test((error.cause as Error).message),
    )
  })

test('a JSON patch may be as deep as a body', () => {
  const patch: Json = [{ op: 'add', path: '/a/b', value: nested(298) }]
  assert.deepEqual(applyJsonPatch({ a: {} }, patch), { a: { b: nested(298) } })
})

const large: Json = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))
const moves = (from: string, path: string): Json =>
  Array.from({ length: 5000 }, () => [
    { op: 'move', from, path },
    { op: 'move', from: path, path: from },
  ]).flat()

test('a value that is moved to a place of the same depth is not checked', () => {
  const took = processorMs(() =>
    assert.deepEqual(applyJsonPatch({ a: large }, moves('/a', '/b')), { a: large }),
  )
  assert.ok(took < 2000, `${took} ms`)
})

test('the number of checks for values that are moved deeper is limited', () => {
  const document = { a: large, in: {} }
  const took = processorMs(() =>
    assert.throws(
      () => applyJsonPatch(document, moves('/a', '/in/a')),
      (error: ApiError) => /moved too much$/.test((error.cause as Error).message),
    ),
  )
  assert.ok(took < 2000, `${took} ms`)
})
