import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pods } from '#controllers/resources.ts'
import { podFromTemplate, slowStart } from './pod-writes.ts'

const ownerKind = { apiVersion: 'apps/v1', kind: 'ReplicaSet', resource: pods }
test('a pod has what its template specifies, and its owner', () => {
  const template = {
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['e/f'], name: 'no' },
    spec: { containers: [] },
  }
  const metadata = { name: 'web', namespace: 'ns', uid: 'u' }
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' }
  assert.deepEqual(podFromTemplate(ownerKind, { metadata, spec: { template } }), {
    metadata: {
      generateName: 'web-',
      namespace: 'ns',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['e/f'],
      ownerReferences: [{ ...reference, controller: true, blockOwnerDeletion: true }],
    },
    spec: { containers: [] },
  })
})

const starts: [times: number, failsFrom: number, tried: number][] = [
  [0, 100, 0],
  [1, 100, 1],
  [10, 100, 10],
  [10, 0, 1],
  [10, 2, 3],
  [10, 3, 7],
]
for (const [times, failsFrom, tried] of starts) {
  test(`of ${times} attempts that fail from the ${failsFrom}th on, ${tried} are made`, async () => {
    let made = 0
    const act = async () => {
      if (made++ >= failsFrom) throw new Error('full')
    }
    const done = slowStart(times, act)
    await (failsFrom < times ? assert.rejects(done, /full/) : done)
    assert.equal(made, tried)
  })
}
