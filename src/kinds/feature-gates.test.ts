import assert from 'node:assert/strict'
import { test } from 'node:test'
import { featureGates, type GateTable } from './feature-gates.ts'

const table: GateTable = {
  Young: [[20, 22, 'ALPHA', false, false]],
  Grown: [
    [18, 20, 'ALPHA', false, false],
    [21, 22, 'BETA', true, false],
  ],
  Done: [[20, 22, 'GA', true, true]],
  ServerSideApply: [[22, 22, 'GA', true, false]],
  Removed: [
    [16, 18, 'ALPHA', false, false],
    [19, 20, 'GA', true, true],
  ],
  Abandoned: [[16, 18, 'ALPHA', false, false]],
  Leaving: [[22, 22, 'DEPRECATED', false, false]],
}

const cases: [number, Record<string, boolean>, string, boolean | RegExp][] = [
  // release  given                      gate               enabled, or the refusal
  [22, {}, 'Young', false],
  [22, { Young: true }, 'Young', true],
  [22, { AllAlpha: true }, 'Young', true],
  [22, {}, 'Grown', true],
  [20, {}, 'Grown', false],
  [22, { AllBeta: false }, 'Grown', false],
  [22, { ServerSideApply: false }, 'ServerSideApply', false],
  [22, { Done: true }, 'Done', true],
  [22, { Done: false }, '', /locked to true/],
  [21, { ServerSideApply: true }, '', /unrecognized feature gate: ServerSideApply/],
  [22, {}, 'Removed', true],
  [18, {}, 'Removed', false],
  [15, {}, 'Removed', false],
  [22, {}, 'Abandoned', false],
  [22, { Removed: true }, '', /unrecognized feature gate: Removed/],
  [22, { Nope: true }, '', /unrecognized feature gate: Nope/],
]
for (const [release, given, gate, expected] of cases) {
  test(`1.${release} ${JSON.stringify(given)} ${gate}`, () => {
    const gates = featureGates(table, release, new Map(Object.entries(given)))
    if (expected instanceof RegExp) assert.match((gates as { error: string }).error, expected)
    else assert.equal((gates as { enabled: (g: string) => boolean }).enabled(gate), expected)
  })
}

test('a deprecated gate causes a warning', () => {
  const gates = featureGates(table, 22, new Map([['Leaving', true]]))
  assert.ok('warnings' in gates && gates.warnings.length === 1)
})
