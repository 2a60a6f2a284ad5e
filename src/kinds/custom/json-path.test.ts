import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { parseJsonPath } from './json-path.ts'

const value: Json = {
  spec: { 'a.b': 1, list: [{ n: 'x', v: 1 }, { n: 'y', v: 2 }, { n: 'z' }], deep: { n: 'q' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}

const cases: [string, Json[] | undefined][] = [
  ['.spec.deep.n', ['q']],
  ['.spec.nothing.here', []],
  ['.spec.a\\.b', [1]],
  [".spec['a\\.b']", [1]],
  ['.spec.list[0].n', ['x']],
  ['.spec.list[-1].n', ['z']],
  ['.spec.list[0:2].n', ['x', 'y']],
  ['.spec.list[*].v', [1, 2]],
  ['.spec.list[9].n', []],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='None')].status", []],
  ['.spec.list[?(@.v>1)].n', ['y']],
  ['.spec.list[?(@.v)].n', ['x', 'y']],
  ['.spec..n', ['x', 'y', 'z', 'q']],
  ['.spec[', undefined],
  ['.spec.list[x]', undefined],
]
for (const [path, expected] of cases) {
  test(path, () => {
    const found = parseJsonPath(path)?.find(value)
    if (path === '.spec..n') assert.deepEqual([...(found as Json[])].sort(), ['q', 'x', 'y', 'z'])
    else assert.deepEqual(found, expected)
  })
}
