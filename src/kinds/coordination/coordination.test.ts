import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { leaseBehaviour } from './lease/behaviour.ts'
import { leaseCandidateBehaviour } from './lease-candidate/behaviour.ts'
import { leaseCandidateColumns } from './lease-candidate/columns.ts'

const context = contextFor({ release: 37 }, ['CoordinatedLeaderElection'])
const valid: Loose = {
  leaseName: 'a',
  binaryVersion: '1.37.0',
  emulationVersion: '1.36.0',
  strategy: 'OldestEmulationVersion',
}
const candidate = (more: Loose) => inDefault({ spec: { ...valid, ...more } })
const unsupported = (strategy: string) =>
  `spec.strategy.strategy: Unsupported value: "${strategy}": supported values: "OldestEmulationVersion"`
const semantic = 'must be a valid semantic version'

checkCreate(leaseCandidateBehaviour, [
  ['a candidate', candidate({}), [], context],
  [
    'wrong versions and an unknown strategy',
    candidate({ binaryVersion: '1', emulationVersion: 'v1.2.3', strategy: 'X' }),
    [
      `spec.emulationVersion: Invalid value: "v1.2.3": ${semantic}`,
      `spec.binaryVersion: Invalid value: "1": ${semantic}`,
      unsupported('X'),
    ],
    context,
  ],
  [
    'nothing',
    inDefault({}),
    [
      'spec.leaseName: Required value',
      'spec.binaryVersion: Required value',
      'spec.strategy: Required value',
    ],
    context,
  ],
  [
    'no emulated version',
    candidate({ emulationVersion: '' }),
    [
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
    ],
    context,
  ],
  [
    'a binary that is older',
    candidate({ binaryVersion: '1.36.0-rc.1' }),
    [
      'spec.binaryVersion: Invalid value: "1.36.0-rc.1": must be greater than or equal to `emulationVersion`',
    ],
    context,
  ],
  ['a strategy of others', candidate({ strategy: 'example.com/a' }), [], context],
])
checkUpdate(leaseCandidateBehaviour, [
  [
    'another lease',
    candidate({}),
    candidate({ leaseName: 'b' }),
    ['spec.leaseName: Invalid value: "b": field is immutable'],
    context,
  ],
])
checkCreate(leaseBehaviour, [
  ['an unknown strategy of a lease', inDefault({ spec: { strategy: 'X' } }), [unsupported('X')]],
])

test('the name of a candidate is a key', () => {
  const { nameRule } = leaseCandidateBehaviour
  assert.deepEqual([nameRule?.('A_b', false), nameRule?.('a-', true)], [[], []])
})

checkBoundaries(
  (release, spec: Loose) =>
    linesOf(
      leaseCandidateBehaviour.validateCreate?.(inDefault({ spec }), contextFor({ release })) ?? [],
    ),
  [
    [
      'a candidate without a version',
      [31, 32],
      { leaseName: 'a', preferredStrategies: ['OldestEmulationVersion', 'X'] },
      [
        "spec.binaryVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
        "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
        'spec.preferredStrategies[1].strategy: Unsupported value: "X": supported values: "OldestEmulationVersion"',
      ],
      ['spec.binaryVersion: Required value', 'spec.strategy: Required value'],
    ],
  ],
)

test('the table of candidates', () => {
  const metadata = { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' }
  const cells = leaseCandidateColumns.cells(
    { metadata, spec: valid },
    Date.parse('2024-01-01T01:00:00Z'),
  )
  assert.deepEqual(cells, ['a', 'a', '1.37.0', '1.36.0', '60m'])
})
