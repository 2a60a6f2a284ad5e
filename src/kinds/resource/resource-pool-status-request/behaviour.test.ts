import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { contextFor, linesOf, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { resourcePoolStatusRequestBehaviour } from './behaviour.ts'
import { resourcePoolStatusRequestColumns } from './columns.ts'

const context = contextFor({ release: 37 })
const status: Loose = { poolCount: 1 }

test('a new request has no status and no field of a disabled gate', () => {
  const spec = { driver: 'a', defaultPartitionTypeAttribute: 'b' }
  const request = named({ spec, status })
  resourcePoolStatusRequestBehaviour.prepareForCreate?.(request, context)
  assert.deepEqual([request.spec, request.status], [{ driver: 'a' }, undefined])
})

const answers: [string, Loose | undefined, Loose | undefined, string[]][] = [
  ['the first answer', undefined, status, []],
  ['the same answer', status, status, []],
  [
    'another answer',
    status,
    { poolCount: 2 },
    ['status: Invalid value: resource.ResourcePoolStatusRequestStatus{}: field is immutable'],
  ],
  ['no answer any more', status, undefined, ['status: Invalid value: "null": field is immutable']],
  [
    'a wrong condition',
    undefined,
    { conditions: [{ type: 'Complete', status: 'True', reason: 'A' }] },
    ['status.conditions[0].lastTransitionTime: Required value'],
  ],
]
for (const [title, old, next, expected] of answers) {
  test(title, () => {
    const validate = resourcePoolStatusRequestBehaviour.subresources?.['status']?.validateUpdate
    const errors = validate?.(named({ status: next }), named({ status: old }), context) ?? []
    assert.deepEqual(linesOf(errors), expected)
  })
}

const complete = {
  type: 'Complete',
  status: 'True',
  lastTransitionTime: '2024-01-01T00:59:00Z',
}
const pools = [
  { totalDevices: 3, availableDevices: 1, allocatedDevices: 1, unavailableDevices: 1 },
  { validationError: 'x' },
]
const dashes = ['-', '-', '-', '-', '-']
const rows: [string, Loose | undefined, unknown[]][] = [
  ['a new request', undefined, [...dashes, 0, 'Pending', '<none>']],
  [
    'a request that is answered in part',
    { poolCount: 3, pools, conditions: [complete] },
    ['3', '1', '1', '1', '1', 3, 'Complete (2/3 pools)', '60s'],
  ],
  [
    'an answered request',
    { poolCount: 0, conditions: [complete] },
    ['0', '0', '0', '0', '0', 0, 'Complete', '60s'],
  ],
  [
    'a failed request',
    { poolCount: 1, conditions: [{ type: 'Failed', status: 'True' }] },
    [...dashes, 1, 'Failed', '<none>'],
  ],
]
for (const [title, shown, expected] of rows) {
  test(`the table shows ${title}`, () => {
    const object = named({ spec: { driver: 'd' }, status: shown })
    const cells = resourcePoolStatusRequestColumns.cells(object, Date.parse('2024-01-01T01:00:00Z'))
    assert.deepEqual(cells, ['a', 'd', ...expected])
  })
}
