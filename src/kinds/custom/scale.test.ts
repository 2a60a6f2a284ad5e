import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, KubeObject } from '#api/object-meta.ts'
import { checkReplicas, checkSelector, scalePathsOf, valueAt } from './scale.ts'

const made = (spec: Json) => ({ metadata: {}, spec }) as unknown as KubeObject
const accessor = 'accessor error:'

const rows: [Json | bigint, string?][] = [
  [0],
  [2147483647],
  [-1, 'Invalid value: -1: should be a non-negative integer'],
  [2147483648, 'Invalid value: 2147483648: should be less than or equal to 2147483647'],
  [2n ** 60n, `Invalid value: ${2n ** 60n}: should be less than or equal to 2147483647`],
  [1.5, `Invalid value: 0: .spec.n ${accessor} 1.5 is of the type float64, expected int64`],
  [1e21, `Invalid value: 0: .spec.n ${accessor} 1e+21 is of the type float64, expected int64`],
  ['x', `Invalid value: 0: .spec.n ${accessor} x is of the type string, expected int64`],
  [
    { a: [1] },
    `Invalid value: 0: .spec.n ${accessor} map[a:[1]] is of the type map[string]interface {}, expected int64`,
  ],
  [null, `Invalid value: 0: .spec.n ${accessor} <nil> is of the type <nil>, expected int64`],
]

test('replicas are a number that a Scale can have', () => {
  for (const [n, want] of rows) {
    const said = checkReplicas(made({ n } as Json), ['spec', 'n']).map(({ message }) => message)
    assert.deepEqual(said, want === undefined ? [] : [want])
  }
  assert.deepEqual(checkReplicas(made({}), ['spec', 'n']), [])
})

test('a selector is text', () => {
  assert.deepEqual(checkSelector(made({ s: 'a=b' }), ['spec', 's']), [])
  const [wrong] = checkSelector(made({ s: 1 }), ['spec', 's'])
  assert.match(wrong?.message ?? '', /1 is of the type int64, expected string$/)
})

test('paths lead only through objects', () => {
  const paths = scalePathsOf({ specReplicasPath: '.spec.a.b', statusReplicasPath: '.status.n' })
  assert.deepEqual(paths, { specReplicas: ['spec', 'a', 'b'], statusReplicas: ['status', 'n'] })
  assert.equal(valueAt(made({ a: { b: 3 } }), ['spec', 'a', 'b']), 3)
  assert.equal(valueAt(made({}), ['spec', 'a', 'b']), undefined)
  assert.equal(valueAt(made({ a: null }), ['spec', 'a', 'b']), undefined)
  assert.throws(() => valueAt(made({ a: true }), ['spec', 'a', 'b']), {
    message: `.spec.a.b ${accessor} true is of the type bool, expected map[string]interface{}`,
  })
})
