import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { deploymentStatus } from './deployment-status.ts'
import { deadlineInMs, pauseCondition, progressConditions } from './rollout-progress.ts'

const nowMs = Date.parse('2030-01-01T01:00:00Z')
const ago = (seconds: number) =>
  new Date(nowMs - seconds * 1000).toISOString().slice(0, 19).concat('Z')

const deploymentWith = (status: Loose, spec: Loose = {}): KubeObject => ({
  metadata: { name: 'web', generation: 2 },
  spec: {
    replicas: 4,
    progressDeadlineSeconds: 60,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    ...spec,
  },
  status,
})
const set = (name: string, replicas: number, status: Loose): KubeObject => ({
  metadata: { name },
  spec: { replicas },
  status: { replicas, observedGeneration: 1, ...status },
})

const countRows: [what: string, KubeObject[], KubeObject | undefined, Loose][] = [
  ['no replica sets', [], undefined, {}],
  [
    'a complete one',
    [],
    set('new', 4, { readyReplicas: 4, availableReplicas: 4, terminatingReplicas: 0 }),
    {
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
      terminatingReplicas: 0,
    },
  ],
  [
    'an old and a new one',
    [set('old', 3, { readyReplicas: 3, availableReplicas: 3, terminatingReplicas: 1 })],
    set('new', 2, { readyReplicas: 1, terminatingReplicas: 2 }),
    {
      replicas: 5,
      updatedReplicas: 2,
      readyReplicas: 4,
      availableReplicas: 3,
      unavailableReplicas: 2,
      terminatingReplicas: 3,
    },
  ],
  ['one that counts nothing', [set('old', 0, {})], undefined, { terminatingReplicas: undefined }],
]
for (const [what, old, current, counts] of countRows)
  test(`the status with ${what}`, () => {
    const rollout = { deployment: deploymentWith({}), current, old }
    const status = deploymentStatus(rollout, { hasTerminating: true, nowMs })
    const { conditions, observedGeneration, ...others } = status
    const expected = { terminatingReplicas: 0, ...counts }
    assert.deepEqual({ terminatingReplicas: undefined, ...others }, expected)
    assert.equal(observedGeneration, 2)
    const isAvailable = (counts.availableReplicas ?? 0) >= 3
    assert.equal(conditions[0].status, isAvailable ? 'True' : 'False')
  })

const complete = { replicas: 4, updatedReplicas: 4, availableReplicas: 4, observedGeneration: 2 }
const condition = (reason: string, seconds: number, status = 'True') => ({
  type: 'Progressing',
  status,
  reason,
  message: '',
  lastUpdateTime: ago(seconds),
  lastTransitionTime: ago(500),
})
type Row = [
  what: string,
  old: Loose,
  now: Loose,
  reason?: string,
  status?: string,
  updated?: string,
]
const progressRows: Row[] = [
  ['nothing yet', {}, {}],
  ['complete', {}, complete, 'NewReplicaSetAvailable', 'True', ago(0)],
  [
    'a new pod',
    { conditions: [condition('ReplicaSetUpdated', 30)] },
    { replicas: 1, updatedReplicas: 1 },
    'ReplicaSetUpdated',
    'True',
    ago(0),
  ],
  [
    'fewer old pods',
    { replicas: 3, conditions: [condition('ReplicaSetUpdated', 30)] },
    { replicas: 2 },
    'ReplicaSetUpdated',
    'True',
    ago(0),
  ],
  [
    'no progress, in time',
    { conditions: [condition('ReplicaSetUpdated', 30)] },
    {},
    'ReplicaSetUpdated',
    'True',
    ago(30),
  ],
  [
    'no progress, too late',
    { conditions: [condition('ReplicaSetUpdated', 61)] },
    {},
    'ProgressDeadlineExceeded',
    'False',
    ago(0),
  ],
  [
    'late after a success',
    { conditions: [condition('NewReplicaSetAvailable', 999)] },
    { replicas: 1 },
    'NewReplicaSetAvailable',
    'True',
    ago(999),
  ],
]
for (const [what, old, now, reason, is, updated] of progressRows)
  test(`progress: ${what}`, () => {
    const rollout = { deployment: deploymentWith(old), current: undefined, old: [] }
    const [found] = progressConditions(rollout, { conditions: old.conditions, ...now }, nowMs)
    assert.deepEqual([found?.reason, found?.status, found?.lastUpdateTime], [reason, is, updated])
  })

test('a failure of the current replica set comes before one of an old one', () => {
  const failed = (message: string) => ({
    conditions: [
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message,
        lastTransitionTime: ago(9),
      },
    ],
  })
  const rollout = {
    deployment: deploymentWith({}),
    current: set('new', 1, failed('new')),
    old: [set('old', 1, failed('old'))],
  }
  const [first, ...others] = progressConditions(rollout, {}, nowMs)
  assert.equal(first?.message, 'new')
  assert.equal(first?.lastUpdateTime, ago(9))
  assert.deepEqual(others, [])
  const mended = { ...rollout, current: undefined, old: [] }
  assert.deepEqual(progressConditions(mended, { conditions: [first as Loose] }, nowMs), [])
})

const pauses: [what: string, spec: Loose, conditions: Loose[], reason: string | undefined][] = [
  ['running', {}, [], undefined],
  ['just paused', { paused: true }, [], 'DeploymentPaused'],
  ['paused', { paused: true }, [condition('DeploymentPaused', 5)], undefined],
  ['resumed', {}, [condition('DeploymentPaused', 5)], 'DeploymentResumed'],
  ['late', { paused: true }, [condition('ProgressDeadlineExceeded', 5)], undefined],
  ['without deadline', { paused: true, progressDeadlineSeconds: 2 ** 31 - 1 }, [], undefined],
]
for (const [what, spec, conditions, reason] of pauses)
  test(`a deployment that is ${what} has the condition ${reason}`, () =>
    assert.equal(pauseCondition(deploymentWith({ conditions }, spec))?.reason, reason))

const deadlines: [what: string, status: Loose, ms: number | undefined][] = [
  ['no condition', {}, undefined],
  ['progress', { conditions: [condition('ReplicaSetUpdated', 20)] }, 41_000],
  ['late', { conditions: [condition('ReplicaSetUpdated', 90)] }, 1000],
  ['too late', { conditions: [condition('ProgressDeadlineExceeded', 90)] }, undefined],
  ['complete', { ...complete, conditions: [condition('ReplicaSetUpdated', 20)] }, undefined],
]
for (const [what, status, ms] of deadlines)
  test(`the deadline with ${what} is checked in ${ms} ms`, () =>
    assert.equal(deadlineInMs(deploymentWith({}), status, nowMs), ms))
