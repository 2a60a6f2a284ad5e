/** Finds the bug of the controller, and shows that the mended one has none. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { explore, startCluster, type TestCluster } from 'binnacle/testing'
import {
  annotatesFirst,
  createsFirst,
  type Reconcile,
  startController,
} from './service-controller.ts'

const userAgent = 'service-controller'
let cluster: TestCluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.close())

const exploreWith = (reconcile: Reconcile) =>
  explore({
    cluster,
    userAgent,
    controller: (fork) => startController(fork.clientNamed(userAgent), reconcile),
    scenario: ({ client }) =>
      client.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
      }),
  })

test('the first controller loses a Service if it dies after its first write', async () => {
  const { writes, runs, findings } = await exploreWith(annotatesFirst)
  assert.equal(writes, 2)
  assert.equal(runs, 7)
  const found = findings.map(({ accident, write }) => `${accident} at write ${write}`)
  assert.deepEqual(found, ['intermediate at write 1'])
})

test('the second controller ends in the same state whatever happens', async () => {
  const { findings } = await exploreWith(createsFirst)
  assert.deepEqual(findings, [])
})
