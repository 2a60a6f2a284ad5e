/** The result of an eviction by the state of its budget, for several releases. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { ApiError } from '#api/status-error.ts'
import { takeDisruption } from './disruption-budget.ts'

const now = '2020-01-01T00:00:00Z'
const none = { desiredHealthy: 1, currentHealthy: 2, disruptionsAllowed: 0 }
const condition = { type: 'DisruptionAllowed', status: 'False', message: 'm', reason: 'R' }
const failed = { ...condition, reason: 'SyncFailed' }
const counts = 'The disruption budget b needs 1 healthy pods and has 2 currently'
const closed = 'The disruption budget b does not allow evicting pods currently'

const causesOf = (minor: number, status: Loose): string[] => {
  const budget = { metadata: { name: 'b' }, status: structuredClone(status) }
  try {
    takeDisruption(budget, { metadata: { name: 'p' } }, now, releaseOf(minor))
  } catch (error) {
    return ((error as ApiError).details?.causes ?? []).map(({ message }) => message ?? '')
  }
  return assert.fail('taken')
}

const cases: [name: string, minor: number, status: Loose, causes: string[]][] = [
  ['counts before 1.35', 34, none, [counts]],
  ['no counts where enough are healthy', 35, none, [closed]],
  ['counts where too few are', 35, { ...none, currentHealthy: 1 }, [counts.replace('2', '1')]],
  ['the condition', 35, { ...none, conditions: [condition] }, [`${closed} (R): m`]],
  ['a failed sync', 35, { conditions: [failed] }, [`${closed} because it failed sync: m`]],
  ['a negative budget has no cause before 1.37', 36, { disruptionsAllowed: -1 }, []],
  [
    'a negative budget has one since',
    37,
    { disruptionsAllowed: -1 },
    [`${closed}: pdb disruptions allowed is negative`],
  ],
]
for (const [name, minor, status, causes] of cases)
  test(`1.${minor}: ${name}`, () => assert.deepEqual(causesOf(minor, status), causes))

test('an eviction decreases the budget and records the pod', () => {
  const budget = { metadata: { name: 'b' }, status: { disruptionsAllowed: 2 } }
  takeDisruption(budget, { metadata: { name: 'p' } }, now, releaseOf(37))
  assert.deepEqual(budget.status, { disruptionsAllowed: 1, disruptedPods: { p: now } })
})
