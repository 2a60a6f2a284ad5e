import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { columnsOfRelease } from '#kinds/columns-of-release.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { olderPodColumns, podColumns } from '#kinds/core/pod/columns.ts'
import { podTemplateColumns } from '#kinds/core/pod-template/columns.ts'
import { controllerRevisionColumns } from '#kinds/apps/controller-revision/columns.ts'
import { cronJobColumns } from '#kinds/batch/cron-job/columns.ts'
import { daemonSetColumns } from '#kinds/apps/daemon-set/columns.ts'
import { deploymentColumns } from '#kinds/apps/deployment/columns.ts'
import { jobColumns } from '#kinds/batch/job/columns.ts'
import { replicaSetColumns } from '#kinds/apps/replica-set/columns.ts'
import { replicationControllerColumns } from '#kinds/core/replication-controller/columns.ts'
import { statefulSetColumns } from '#kinds/apps/stateful-set/columns.ts'

const now = Date.parse('2021-01-01T00:10:00Z')
const metadata = { name: 'x', creationTimestamp: '2021-01-01T00:00:00Z' }
const template = {
  metadata: { labels: { a: 'b' } },
  spec: {
    containers: [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'j' },
    ],
  },
}
const selector = { matchLabels: { a: 'b' } }

function cellsOf(columns: TableColumns, object: Loose): unknown[] {
  const cells = columns.cells({ metadata, ...object } as KubeObject, now)
  assert.equal(cells.length, columns.columns.length)
  return cells
}

const pod = (status: Loose, more: Loose = {}) => ({
  spec: { containers: [{}, {}], ...more },
  status,
})
const pods: [string, Loose, unknown[]][] = [
  ['waiting', pod({ phase: 'Pending' }), ['0/2', 'Pending', '0']],
  ['evicted', pod({ phase: 'Failed', reason: 'Evicted' }), ['0/2', 'Evicted', '0']],
  [
    'initialising',
    pod(
      {
        phase: 'Pending',
        initContainerStatuses: [
          { state: { terminated: { exitCode: 0 } } },
          { state: { waiting: { reason: 'PodInitializing' } } },
        ],
      },
      { initContainers: [{}, {}] },
    ),
    ['0/2', 'Init:1/2', '0'],
  ],
  [
    'failing to initialise',
    pod({ phase: 'Pending', initContainerStatuses: [{ state: { terminated: { exitCode: 3 } } }] }),
    ['0/2', 'Init:ExitCode:3', '0'],
  ],
  [
    'crashing',
    pod({
      phase: 'Running',
      containerStatuses: [
        { ready: true, state: { running: {} } },
        {
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { finishedAt: '2021-01-01T00:09:00Z' } },
        },
      ],
    }),
    ['1/2', 'CrashLoopBackOff', '3 (60s ago)'],
  ],
  [
    'half completed',
    pod({
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        { state: { terminated: { reason: 'Completed' } } },
        { ready: true, state: { running: {} } },
      ],
    }),
    ['1/2', 'Running', '0'],
  ],
]
for (const [what, object, expected] of pods) {
  test(`a pod ${what}`, () => assert.deepEqual(cellsOf(podColumns, object).slice(1, 4), expected))
}

test('older releases show only the number of restarts', () => {
  const object = pod({ phase: 'Running', containerStatuses: [{ restartCount: 2, state: {} }] })
  const oldest = olderPodColumns[0]?.instead as TableColumns
  assert.equal(cellsOf(oldest, object)[3], 2)
  assert.equal(oldest.columns[3]?.type, 'integer')
})

const gated = { conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] }
const sidecar = {
  spec: { containers: [{ name: 'c' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] },
  status: {
    phase: 'Running',
    initContainerStatuses: [{ name: 's', started: true, ready: true, state: { running: {} } }],
    containerStatuses: [{ name: 'c', ready: true, state: { running: {} } }],
  },
}
const ended = {
  metadata: { ...metadata, deletionTimestamp: '2021-01-01T00:09:00Z' },
  spec: { containers: [{}] },
  status: { phase: 'Failed' },
}
const halfFailed = pod({
  phase: 'Failed',
  containerStatuses: [
    { state: { terminated: { reason: 'Completed' } } },
    { state: { terminated: { reason: 'Error', exitCode: 1 } } },
  ],
})
const since: [number, Loose, string[], string[]][] = [
  [26, pod({ phase: 'Pending', ...gated }), ['0/2', 'Pending'], ['0/2', 'SchedulingGated']],
  [28, sidecar, ['0/1', 'Init:0/1'], ['2/2', 'Running']],
  [31, ended, ['0/1', 'Terminating'], ['0/1', 'Failed']],
  [35, halfFailed, ['0/2', 'Completed'], ['0/2', 'Error']],
]
for (const [release, object, before, now] of since) {
  test(`a pod in tables before and since 1.${release}`, () => {
    const rules = { behaviour: {}, columns: podColumns, olderColumns: olderPodColumns }
    const columnsIn = (minor: number) => columnsOfRelease(rules, minor) ?? podColumns
    assert.deepEqual(cellsOf(columnsIn(release - 1), object).slice(1, 3), before)
    assert.deepEqual(cellsOf(columnsIn(release), object).slice(1, 3), now)
  })
}

test('a terminating pod, and the wide columns', () => {
  const object = {
    metadata: { ...metadata, deletionTimestamp: '2021-01-01T00:09:00Z' },
    spec: {
      containers: [{}],
      nodeName: 'n',
      readinessGates: [{ conditionType: 'g' }, { conditionType: 'h' }],
    },
    status: { podIPs: [{ ip: '10.0.0.1' }], conditions: [{ type: 'g', status: 'True' }] },
  }
  assert.deepEqual(cellsOf(podColumns, object), [
    'x',
    '0/1',
    'Terminating',
    '0',
    '10m',
    '10.0.0.1',
    'n',
    '<none>',
    '1/2',
  ])
  assert.deepEqual(
    podColumns.conditions?.({ metadata, status: { phase: 'Succeeded' } } as KubeObject),
    [
      {
        type: 'Completed',
        status: 'True',
        reason: 'Succeeded',
        message: 'The pod has completed successfully.',
      },
    ],
  )
  const ends = ['Failed', 'Running'].map((phase) =>
    podColumns.conditions?.({ metadata, status: { phase } } as KubeObject),
  )
  const failed = { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }
  assert.deepEqual(ends, [[failed], undefined])
})

const rows: [string, TableColumns, Loose, unknown[]][] = [
  ['PodTemplate', podTemplateColumns, { template }, ['x', 'c,d', 'i,j', 'a=b']],
  [
    'ReplicationController',
    replicationControllerColumns,
    { spec: { replicas: 2, selector: { a: 'b' }, template }, status: { replicas: 1 } },
    ['x', 2, 1, 0, '10m', 'c,d', 'i,j', 'a=b'],
  ],
  [
    'ReplicaSet',
    replicaSetColumns,
    { spec: { replicas: 2, selector, template }, status: { readyReplicas: 1 } },
    ['x', 2, 0, 1, '10m', 'c,d', 'i,j', 'a=b'],
  ],
  [
    'Deployment',
    deploymentColumns,
    { spec: { replicas: 2, selector, template }, status: { readyReplicas: 1, updatedReplicas: 2 } },
    ['x', '1/2', 2, 0, '10m', 'c,d', 'i,j', 'a=b'],
  ],
  [
    'DaemonSet',
    daemonSetColumns,
    { spec: { selector, template }, status: { desiredNumberScheduled: 3, numberAvailable: 1 } },
    ['x', 3, 0, 0, 0, 1, '<none>', '10m', 'c,d', 'i,j', 'a=b'],
  ],
  [
    'StatefulSet',
    statefulSetColumns,
    { spec: { replicas: 1, template } },
    ['x', '0/1', '10m', 'c,d', 'i,j'],
  ],
  [
    'Job',
    jobColumns,
    {
      spec: { parallelism: 3, selector, template },
      status: { succeeded: 1, startTime: '2021-01-01T00:05:00Z' },
    },
    ['x', 'Running', '1/1 of 3', '5m', '10m', 'c,d', 'i,j', 'a=b'],
  ],
  [
    'CronJob',
    cronJobColumns,
    {
      spec: { schedule: '@daily', suspend: false, jobTemplate: { spec: { template } } },
      status: { active: [{}] },
    },
    ['x', '@daily', '<none>', 'False', 1, '<none>', '10m', 'c,d', 'i,j', '<none>'],
  ],
  [
    'ControllerRevision',
    controllerRevisionColumns,
    {
      metadata: {
        ...metadata,
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: '1', controller: true },
        ],
      },
      revision: 4,
    },
    ['x', 'statefulset.apps/web', 4, '10m'],
  ],
]
for (const [kind, columns, object, expected] of rows) {
  test(kind, () => assert.deepEqual(cellsOf(columns, object), expected))
}
