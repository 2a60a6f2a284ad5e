/** A test controls the clock and the randomness of a cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import type { FailedRequest } from './failed-request.ts'
import { startCluster } from './start-cluster.ts'
import type { TestCluster } from './test-cluster.ts'

const namespace = 'default'
const named = (apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
})

test('a frozen clock determines times in objects; moving it forward expires TTLs', async () => {
  await using cluster = await startCluster()
  const { clock, client } = cluster
  clock.freeze('2030-05-01T12:00:00Z')
  const reference = named('v1', 'Event', 'a')
  const event: KubeObject = {
    ...reference,
    involvedObject: { namespace },
    reason: 'Test',
  }
  const made = await client.create(event)
  assert.equal(made.metadata.creationTimestamp, '2030-05-01T12:00:00Z')
  await clock.advance('59m')
  await client.get(reference)
  await clock.advance('2m')
  await assert.rejects(client.get(reference), (error: FailedRequest) => error.code === 404)
  const later = await client.create(named('v1', 'ConfigMap', 'b') as KubeObject)
  assert.equal(later.metadata.creationTimestamp, '2030-05-01T13:01:00Z')
})

test('controllers use the clock: a finished Job is deleted after its TTL', async () => {
  await using cluster = await startCluster()
  const { clock, client } = cluster
  clock.freeze()
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] },
  }
  const job = named('batch/v1', 'Job', 'a')
  const spec = { template, ttlSecondsAfterFinished: 3600 }
  await client.create({ ...job, spec } as unknown as KubeObject)
  const at = new Date(clock.now()).toISOString().replace(/\.\d+/, '')
  const done = { status: 'True', lastTransitionTime: at, lastProbeTime: at }
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ ...done, type }))
  const status = { startTime: at, completionTime: at, succeeded: 1, conditions }
  await client.patch(job, { status }, { subresource: 'status' })
  await new Promise((resolve) => setTimeout(resolve, 300))
  await clock.advance('59m')
  await client.get(job)
  await clock.advance('2m')
  await client.waitFor(job, (found) => !found || found.metadata.deletionTimestamp !== undefined)
})

test('a fork has its own clock, and a reset restores the clock', async () => {
  await using cluster = await startCluster()
  cluster.clock.freeze('2030-01-01T00:00:00Z')
  await using fork = await cluster.fork()
  await fork.clock.advance('1d')
  assert.equal(new Date(cluster.clock.now()).toISOString(), '2030-01-01T00:00:00.000Z')
  assert.equal(new Date(fork.clock.now()).toISOString(), '2030-01-02T00:00:00.000Z')
  await fork.reset()
  assert.equal(new Date(fork.clock.now()).toISOString(), '2030-01-01T00:00:00.000Z')
})

/** Certificates and the port differ in every run. */
const differing = /authentication|root-ca|^kubernetes$/

/** The contents of a cluster after some writes, as text. */
async function bytesOf(cluster: TestCluster): Promise<string> {
  const { client } = cluster
  const generated = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { generateName: 'a-', namespace },
  }
  for (let i = 0; i < 3; i++) await client.create(generated as unknown as KubeObject)
  await client.create({
    ...named('v1', 'Service', 's'),
    spec: { ports: [{ port: 80 }] },
  } as unknown as KubeObject)
  const texts: string[] = []
  for (const [apiVersion, kind] of [
    ['v1', 'Namespace'],
    ['v1', 'ConfigMap'],
    ['v1', 'Service'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
  ] as const) {
    const { items } = await client.list({ apiVersion, kind })
    const own = items.filter(({ metadata }) => !differing.test(metadata.name ?? ''))
    texts.push(JSON.stringify(own))
  }
  return texts.join('\n')
}

test('the same seed gives the same bytes, in clusters, forks and after a reset', async () => {
  const runs: string[][] = []
  for (const seed of [3, 3, 4]) {
    await using cluster = await startCluster({ seed, controllers: ['-*'] })
    await using fork = await cluster.fork()
    const first = await bytesOf(fork)
    await fork.reset()
    runs.push([first, await bytesOf(fork), await bytesOf(cluster)])
  }
  const [[first, again] = [], second = [], other = []] = runs
  assert.ok(again === first, 'after a reset')
  assert.ok(second.join() === runs[0]?.join(), 'in another run')
  assert.notEqual(other[0], first)
})
