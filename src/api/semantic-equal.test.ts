import assert from 'node:assert/strict'
import { test } from 'node:test'
import { semanticEqual, semanticEqualQuantities } from './semantic-equal.ts'

const cases: [unknown, unknown, boolean][] = [
  [undefined, null, true],
  [undefined, [], true],
  [null, {}, true],
  [[], {}, true],
  ['', undefined, false],
  [0, false, false],
  [{ a: 1, b: [] }, { a: 1 }, true],
  [{ a: 1 }, { b: 2, a: 1 }, false],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: { b: null } }, {}, false],
  [{ constructor: 'x' }, {}, false],
  [{ toString: undefined }, {}, true],
]
for (const [a, b, same] of cases) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)}`, () => {
    assert.equal(semanticEqual(a, b), same)
    assert.equal(semanticEqual(b, a), same)
  })
}

test('resource lists are compared by quantity', () => {
  assert.ok(semanticEqualQuantities({ cpu: '1' }, { cpu: '+1' }))
  assert.ok(semanticEqualQuantities(undefined, {}))
  assert.ok(!semanticEqualQuantities({ cpu: '1' }, { cpu: '2' }))
  assert.ok(!semanticEqualQuantities({ cpu: '1' }, { memory: '1' }))
})
