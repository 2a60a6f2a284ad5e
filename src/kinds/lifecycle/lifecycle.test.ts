import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { contextFor, inDefault, linesOf } from '#kinds/all-kinds/behaviour.suite.ts'
import { evictionBehaviour } from './eviction/behaviour.ts'
import { evictionColumns } from './eviction/columns.ts'
import { inResponderOrder } from './eviction/responder-order.ts'
import { evictionRequestBehaviour } from './eviction-request/behaviour.ts'
import { evictionRequestColumns } from './eviction-request/columns.ts'

const context = contextFor({ release: 37, now: '2024-01-01T01:00:00Z' })
const now = Date.parse(context.now)

test('a new request has no status and generation 1, and a changed spec raises it', () => {
  const request = (intent: string, status: Loose) =>
    inDefault({ spec: { intent }, status }, { generation: 7 })
  const made = request('Eviction', { observedGeneration: 3 })
  evictionRequestBehaviour.prepareForCreate?.(made, context)
  assert.deepEqual([made.status, made.metadata.generation], [{}, 1])
  const next = request('Withdrawn', { observedGeneration: 9 })
  evictionRequestBehaviour.prepareForUpdate?.(next, request('Eviction', {}), context)
  assert.deepEqual([next.status, next.metadata.generation], [{}, 8])
})

/** `Active@00:59:50` is the state of the item, and the time at which it started. */
const targetsAndResponders = (...items: [name: string, state: string, more?: Loose][]): Loose => ({
  targetResponders: items.map(([name, state], i) => ({ name, state, priority: 9000 - i })),
  responders: items.map(([name, , more]) => ({ name, ...more })),
})
const at = (time: string) => `2024-01-01T${time}Z`
const started: Loose = { startTime: at('00:59:50') }
const completed: Loose = { ...started, completionTime: at('00:59:55') }
const condition = (type: string, status: string, reason = 'A'): Loose => ({
  type,
  status,
  reason,
  lastTransitionTime: at('00:00:00'),
})

const [first, second] = ['status.targetResponders[0]', 'status.targetResponders[1]']
const active = targetsAndResponders(['x.y/a', 'Active', started], ['x.y/b', 'Inactive'])
/** The old status, the new one, the errors. */
const cases: [string, Loose, Loose, string[]][] = [
  ['a status without responders', {}, {}, []],
  ['the first responder becomes active', {}, active, []],
  [
    'the second responder becomes active first',
    {},
    targetsAndResponders(['x.y/a', 'Inactive'], ['x.y/b', 'Active', started]),
    [
      `${first}.state: Invalid value: "Inactive": must be one of: Active, because this responder is next in line`,
      `${second}.state: Invalid value: "Active": must be one of: Inactive, because the previously active has not finished processing`,
    ],
  ],
  [
    'a responder ends and the next begins',
    active,
    targetsAndResponders(['x.y/a', 'Completed', started], ['x.y/b', 'Active', started]),
    [
      `${first}.state: Forbidden: must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime`,
      `${first}.state: Invalid value: "Completed": cannot become Completed because the responder didn't report status.responders.completionTime`,
    ],
  ],
  [
    'a completed responder',
    targetsAndResponders(['x.y/a', 'Active', completed], ['x.y/b', 'Inactive']),
    targetsAndResponders(['x.y/a', 'Completed', completed], ['x.y/b', 'Active', started]),
    [],
  ],
  [
    'a responder that ended becomes active',
    targetsAndResponders(['x.y/a', 'Completed', completed]),
    targetsAndResponders(['x.y/a', 'Active', completed]),
    [
      `${first}.state: Invalid value: "Active": must be one of: Completed, because final state is immutable`,
    ],
  ],
  [
    'the active responder of an evicted target stays active',
    active,
    { ...active, conditions: [condition('TargetEvicted', 'True')] },
    [
      `${first}.state: Invalid value: "Active": must be one of: Canceled, Completed, Interrupted, because the eviction request has finished processing`,
    ],
  ],
  [
    'other responders',
    active,
    targetsAndResponders(['x.y/a', 'Active', started], ['x.y/c', 'Inactive']),
    [
      'status.targetResponders: Invalid value: lifecycle.TargetResponder{}: must preserve the same keys',
    ],
  ],
  [
    'fewer responders',
    active,
    targetsAndResponders(['x.y/a', 'Active', started]),
    [
      'status.targetResponders: Invalid value: lifecycle.TargetResponder{}: must preserve the same length and the same keys',
    ],
  ],
  [
    'lists that differ',
    {},
    { ...active, responders: [{ name: 'x.y/a', ...started }] },
    [
      `${second}: Invalid value: lifecycle.TargetResponder{}: "x.y/b" has to be tracked in status.responders first`,
      'status.responders: Invalid value: lifecycle.ResponderStatus{}: must be the same length as status.targetResponders and contain the same keys',
    ],
  ],
  [
    'priorities of Kubernetes',
    {},
    {
      targetResponders: [
        { name: 'imperative-eviction.k8s.io/evictor', state: 'Inactive', priority: 101 },
        { name: 'x.y/a', state: 'Active', priority: 999 },
      ],
      responders: [{ name: 'imperative-eviction.k8s.io/evictor' }, { name: 'x.y/a', ...started }],
    },
    [
      `${second}.priority: Invalid value: 999: priorities 0-999 are reserved for responders with *.k8s.io suffix`,
      `${first}.priority: Invalid value: 101: core k8s responder is expected to have priority: 100`,
    ],
  ],
  [
    'an active responder without a start',
    {},
    targetsAndResponders(['x.y/a', 'Active']),
    ['status.responders[0].startTime: Required value: is required for an active responder'],
  ],
  [
    'times that are not now',
    {},
    targetsAndResponders([
      'x.y/a',
      'Active',
      {
        startTime: at('00:50:00'),
        heartbeatTime: at('00:49:00'),
        expectedCompletionTime: at('00:59:00'),
        completionTime: at('00:55:00'),
      },
    ]),
    [
      'status.responders[0].startTime: Invalid value: "2024-01-01T00:50:00Z": must be set to the present time',
      'status.responders[0].heartbeatTime: Invalid value: "2024-01-01T00:49:00Z": must occur after status.responders[0].startTime',
      'status.responders[0].expectedCompletionTime: Invalid value: "2024-01-01T00:59:00Z": cannot be set to the past time',
      'status.responders[0].completionTime: Invalid value: "2024-01-01T00:55:00Z": must be set to the present time',
    ],
  ],
  [
    'times before the start',
    {},
    targetsAndResponders(
      ['x.y/a', 'Active', started],
      ['x.y/b', 'Inactive', { heartbeatTime: at('01:00:00'), completionTime: at('01:00:00') }],
    ),
    [
      'status.responders[1].heartbeatTime: Invalid value: "2024-01-01T01:00:00Z": cannot be set before status.responders[1].startTime is set',
      'status.responders[1].completionTime: Invalid value: "2024-01-01T01:00:00Z": cannot be set before status.responders[1].startTime is set',
    ],
  ],
  [
    'a heartbeat that is earlier or removed',
    targetsAndResponders([
      'x.y/a',
      'Active',
      { startTime: at('00:50:00'), heartbeatTime: at('00:59:59') },
    ]),
    targetsAndResponders([
      'x.y/a',
      'Active',
      { startTime: at('00:50:00'), heartbeatTime: at('00:59:58') },
    ]),
    [
      'status.responders[0].heartbeatTime: Invalid value: "2024-01-01T00:59:58Z": cannot be decreased',
    ],
  ],
  [
    'a change by a responder that is not active',
    active,
    targetsAndResponders(['x.y/a', 'Active', started], ['x.y/b', 'Inactive', { message: 'm' }]),
    ['status.responders[1]: Invalid value: lifecycle.ResponderStatus{}: field is immutable'],
  ],
  [
    'a reverted condition',
    { conditions: [condition('Failed', 'True')] },
    { conditions: [condition('Failed', 'True', 'B')] },
    [
      'status.conditions: Invalid value: []v1.Condition{…}: Failed condition status cannot be reverted',
    ],
  ],
]
for (const [title, old, next, expected] of cases) {
  test(title, () => {
    const validate = evictionBehaviour.subresources?.['status']?.validateUpdate
    const eviction = (status: Loose): KubeObject => inDefault({ spec: {}, status })
    const errors = validate?.(eviction(structuredClone(next)), eviction(old), context) ?? []
    assert.deepEqual(linesOf(errors), expected)
  })
}

test('responders act by priority, then by domain', () => {
  const names = ['b.example.com/a', 'example.com/b', 'example.com/a', 'x.a/a', 'none/a', 'high/a']
  const responders = names.map((name) =>
    name === 'none/a' ? { name } : { name, priority: name === 'high/a' ? 2 : 1 },
  )
  assert.deepEqual(
    inResponderOrder(responders).map(({ name }) => name),
    ['high/a', 'x.a/a', 'example.com/a', 'example.com/b', 'b.example.com/a', 'none/a'],
  )
})

const made = (fields: Loose): KubeObject => ({
  metadata: { name: 'a', creationTimestamp: at('00:00:00') },
  ...fields,
})
const spec: Loose = { target: { pod: { name: 'p' } }, requester: 'x.y/r', intent: 'Eviction' }
const rows: [string, typeof evictionColumns, KubeObject, unknown[]][] = [
  [
    'a request',
    evictionRequestColumns,
    made({ spec, status: { observedGeneration: 1 } }),
    ['a', 'p', 'Pod', 'Progressing', 'x.y/r', 'Eviction', '60m'],
  ],
  [
    'a request that ended',
    evictionRequestColumns,
    made({ spec: {}, status: { conditions: [condition('Failed', 'True')] } }),
    ['a', '<unset>', '<unset>', 'Failed (A)', '', '', '60m'],
  ],
  [
    'a new eviction',
    evictionColumns,
    made({ spec, status: {} }),
    [
      'a',
      'p',
      'Pod',
      'Pending',
      '<unset> (0/0)',
      '<unset>',
      '<unknown>',
      '<none>',
      '60m',
      '<unset>',
      '<unset>',
    ],
  ],
  [
    'an eviction in progress',
    evictionColumns,
    made({
      spec,
      status: {
        requesters: [
          { name: 'x.y/b', intent: 'Eviction' },
          { name: 'x.y/a', intent: 'Eviction' },
          { name: 'x.y/c', intent: 'Withdrawn' },
        ],
        ...targetsAndResponders(
          ['x.y/a', 'Completed', completed],
          [
            'x.y/b',
            'Active',
            {
              ...started,
              heartbeatTime: at('00:59:59'),
              expectedCompletionTime: at('01:01:00'),
              message: ' m ',
            },
          ],
          ['x.y/c', 'Inactive'],
        ),
      },
    }),
    [
      'a',
      'p',
      'Pod',
      'Pending',
      'x.y/b (2/3)',
      'Started (10s ago)',
      'in 60s',
      'x.y/a + 1 more...',
      '60m',
      '1s ago',
      'm',
    ],
  ],
  [
    'an eviction whose responders ended',
    evictionColumns,
    made({
      spec,
      status: {
        requesters: [{ name: 'x.y/c', intent: 'Withdrawn' }],
        conditions: [condition('TargetEvicted', 'True')],
        ...targetsAndResponders(['x.y/a', 'Completed', completed]),
      },
    }),
    [
      'a',
      'p',
      'Pod',
      'TargetEvicted (A)',
      'x.y/a (1/1)',
      'Completed (5s ago)',
      '-',
      '<withdrawn>',
      '60m',
      '<unset>',
      '<unset>',
    ],
  ],
]
for (const [title, table, object, expected] of rows) {
  test(`the table shows ${title}`, () => assert.deepEqual(table.cells(object, now), expected))
}
