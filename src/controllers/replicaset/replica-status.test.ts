import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { nextAvailableInMs, replicaStatus } from './replica-status.ts'

const nowMs = Date.parse('2030-01-01T00:00:10Z')
const labels = { app: 'web' }
const owner = (status: Loose = {}, spec: Loose = {}): KubeObject => ({
  metadata: { name: 'web', generation: 3 },
  spec: { replicas: 2, template: { metadata: { labels: { ...labels, tier: 'x' } } }, ...spec },
  status,
})
const pod = (readySince?: string, tier = 'x'): KubeObject => ({
  metadata: { labels: { ...labels, tier } },
  status: {
    conditions: readySince
      ? [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }]
      : [{ type: 'Ready', status: 'False' }],
  },
})

const rows: [what: string, pods: KubeObject[], spec: Loose, counts: number[]][] = [
  ['no pods', [], {}, [0, 0, 0, 0]],
  ['a pod that is not ready', [pod()], {}, [1, 1, 0, 0]],
  ['a pod without all labels of the template', [pod(undefined, 'y')], {}, [1, 0, 0, 0]],
  ['a ready pod', [pod('2030-01-01T00:00:09Z')], {}, [1, 1, 1, 1]],
  ['a pod ready too briefly', [pod('2030-01-01T00:00:09Z')], { minReadySeconds: 5 }, [1, 1, 1, 0]],
  [
    'a pod ready for long enough',
    [pod('2030-01-01T00:00:05Z')],
    { minReadySeconds: 5 },
    [1, 1, 1, 1],
  ],
]
for (const [what, active, spec, counts] of rows) {
  test(`the status of a replica set with ${what}`, () => {
    const counted = { active, terminating: undefined, failure: undefined }
    const status = replicaStatus(owner({}, spec), counted, nowMs)
    const { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas } = status as Loose
    assert.deepEqual([replicas, fullyLabeledReplicas, readyReplicas, availableReplicas], counts)
    assert.equal(status?.observedGeneration, 3)
    assert.ok(!('terminatingReplicas' in (status ?? {})))
    assert.equal(replicaStatus(owner(status, spec), counted, nowMs + 1), undefined)
  })
}

test('terminating pods are counted where the field exists', () => {
  const counted = { active: [], terminating: [pod()], failure: undefined }
  assert.equal(replicaStatus(owner(), counted, nowMs)?.terminatingReplicas, 1)
})

const failures: [what: string, active: KubeObject[], reason: string][] = [
  ['created', [], 'FailedCreate'],
  ['deleted', [pod(), pod(), pod()], 'FailedDelete'],
]
for (const [what, active, reason] of failures) {
  test(`pods that cannot be ${what} are a condition until they can`, () => {
    const counted = { active, terminating: undefined, failure: 'quota' }
    const status = replicaStatus(owner(), counted, nowMs)
    const lastTransitionTime = '2030-01-01T00:00:10Z'
    const condition = { type: 'ReplicaFailure', status: 'True', reason, message: 'quota' }
    assert.deepEqual(status?.conditions, [{ ...condition, lastTransitionTime }])
    const again = { ...counted, failure: 'another' }
    assert.equal(replicaStatus(owner(status), again, nowMs + 60_000), undefined)
    const mended = { ...counted, failure: undefined }
    assert.deepEqual(replicaStatus(owner(status), mended, nowMs)?.conditions, [])
  })
}

const waits: [since: (string | undefined)[], seconds: number, ms: number | undefined][] = [
  [[undefined], 5, undefined],
  [['2030-01-01T00:00:09Z'], 0, undefined],
  [['2030-01-01T00:00:05Z'], 5, undefined],
  [['2030-01-01T00:00:09Z', '2030-01-01T00:00:07Z'], 5, 2000],
]
for (const [since, seconds, ms] of waits) {
  test(`pods ready since ${since} are next available after ${ms} ms, of ${seconds} s`, () =>
    assert.equal(
      nextAvailableInMs(
        since.map((time) => pod(time)),
        seconds,
        nowMs,
      ),
      ms,
    ))
}
