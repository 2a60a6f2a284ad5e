import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { podsToDelete } from './pods-to-delete.ts'

const nowMs = Date.parse('2030-01-01T01:00:00Z')
const at = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1000).toISOString()

interface Pod {
  name: string
  node?: string
  phase?: string
  readyFor?: number
  cost?: string
  age?: number
  restarts?: number
  sidecarRestarts?: number
}

const pod = ({ name, node = 'n', phase = 'Running', readyFor, ...more }: Pod): KubeObject => ({
  metadata: {
    name,
    uid: name,
    creationTimestamp: at(more.age ?? 100),
    annotations: { ...(more.cost && { 'controller.kubernetes.io/pod-deletion-cost': more.cost }) },
  },
  spec: { nodeName: node, initContainers: [{ name: 'side', restartPolicy: 'Always' }] },
  status: {
    phase,
    conditions:
      readyFor === undefined
        ? []
        : [{ type: 'Ready', status: 'True', lastTransitionTime: at(readyFor) }],
    containerStatuses: [{ name: 'c', restartCount: more.restarts ?? 0 }],
    initContainerStatuses: [{ name: 'side', restartCount: more.sidecarRestarts ?? 0 }],
  },
})

const off = { costs: false }
const rows: [what: string, first: Pod, second: Pod, options?: Loose][] = [
  ['without a node', { name: 'b', node: '' }, { name: 'a' }],
  ['pending', { name: 'b', phase: 'Pending' }, { name: 'a' }],
  ['unknown', { name: 'b', phase: 'Unknown' }, { name: 'a' }],
  ['not ready', { name: 'b' }, { name: 'a', readyFor: 5 }],
  ['of less cost', { name: 'b', readyFor: 50, cost: '-1' }, { name: 'a', readyFor: 5 }],
  ['of more cost, if costs are off', { name: 'b', cost: '5', restarts: 1 }, { name: 'a' }, off],
  ['of a cost that is not a number', { name: 'b', cost: '-1' }, { name: 'a', cost: '-9x' }],
  ['beside more others', { name: 'b', node: 'full' }, { name: 'a', node: 'free' }],
  ['ready for less long', { name: 'b', readyFor: 5 }, { name: 'a', readyFor: 5000 }],
  ['restarted more often', { name: 'b', restarts: 2 }, { name: 'a', restarts: 1 }],
  ['with a restarted sidecar', { name: 'b', sidecarRestarts: 1 }, { name: 'a' }],
  ['much newer', { name: 'b', age: 5 }, { name: 'a', age: 5000 }],
  ['of about the same age', { name: 'a', age: 120 }, { name: 'b', age: 100 }],
  ['newer, exactly', { name: 'b', age: 100 }, { name: 'a', age: 120 }, { release: 21 }],
]
const related = [pod({ name: 'x', node: 'full' }), pod({ name: 'y', node: 'full' })]
for (const [what, first, second, more] of rows) {
  test(`a pod ${what} is deleted first`, () => {
    const options = { related, costs: true, release: 22, nowMs, ...more }
    for (const pods of [
      [first, second],
      [second, first],
    ]) {
      const chosen = podsToDelete(pods.map(pod), 1, options)
      assert.deepEqual(
        chosen.map(({ metadata }) => metadata.name),
        [first.name],
      )
    }
  })
}

test('all pods are deleted if none may stay', () => {
  const options = { related: [], costs: true, release: 22, nowMs }
  assert.equal(podsToDelete([pod({ name: 'a' }), pod({ name: 'b' })], 3, options).length, 2)
})
