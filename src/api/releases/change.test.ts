import assert from 'node:assert/strict'
import { test } from 'node:test'
import { change, releaseOf } from './change.ts'

const added = change('test: added in 1.20', { since: 20 })
const dropped = change('test: last in 1.19', { until: 19 })
const flapping = change('test: on, off, on again', { since: 32, until: 32 }, { since: 34 })

const rows: [name: string, which: typeof added, minor: number, has: boolean][] = [
  ['before since', added, 19, false],
  ['at since', added, 20, true],
  ['until is inclusive', dropped, 19, true],
  ['after until', dropped, 20, false],
  ['first span', flapping, 32, true],
  ['between spans', flapping, 33, false],
  ['second span', flapping, 34, true],
]

for (const [name, which, minor, has] of rows)
  test(`a release has a change: ${name}`, () => {
    assert.equal(releaseOf(minor).has(which), has)
    assert.equal(releaseOf(minor).has(which), has, 'the second call gives the same')
  })

test('a title is declared once, and has a span', () => {
  assert.throws(() => change('test: added in 1.20', { since: 21 }), /two changes/)
  assert.throws(() => change('test: no span'), /names no release/)
})
