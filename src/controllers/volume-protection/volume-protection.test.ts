import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { core, startCluster } from '#controllers/cluster.suite.ts'
import { runControllers } from '#controllers/run.ts'
import type { ApiClient } from '#client/client.ts'
import { podCollector } from '#controllers/pods/pod-collector.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { claimProtection, volumeProtection } from './volume-protection.ts'

const claims = core('persistentvolumeclaims')
const pods = core('pods')

const pod = (name: string, nodeName?: string): KubeObject => ({
  metadata: { name },
  spec: {
    ...(nodeName && { nodeName }),
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
  },
})

test('a claim outlives its deletion as long as a pod uses it; finalizers of pods without a kubelet are removed', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(claimProtection, podCollector)
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } }
    await client.create(claims, 'default', { metadata: { name: 'c' }, spec })
    await client.create(pods, 'default', pod('user', 'nowhere'))
    await client.delete(claims, 'default', 'c')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const claim = await client.get(claims, 'default', 'c')
    assert.deepEqual(claim.metadata.finalizers, ['kubernetes.io/pvc-protection'])
    await client.delete(pods, 'default', 'user')
    assert.ok(await unlessMissing(client.get(pods, 'default', 'user')))
    await until('both are gone', async () => {
      const found = await Promise.all([
        unlessMissing(client.get(pods, 'default', 'user')),
        unlessMissing(client.get(claims, 'default', 'c')),
      ])
      return found.every((one) => one === undefined)
    })
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('a volume outlives its deletion as long as it is bound', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    const volumes = core('persistentvolumes')
    const spec = {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1' },
      hostPath: { path: '/x' },
    }
    const inPhase = async (name: string, phase: string) => {
      const volume = await client.get(volumes, '', name)
      await client.update(volumes, { ...volume, status: { phase } }, 'status')
    }
    for (const name of ['bound', 'free']) {
      await client.create(volumes, '', { metadata: { name }, spec })
      await inPhase(name, name === 'bound' ? 'Bound' : 'Available')
    }
    cluster.run(volumeProtection)
    for (const name of ['bound', 'free']) await client.delete(volumes, '', name)
    const isGone = async (name: string) =>
      (await unlessMissing(client.get(volumes, '', name))) === undefined
    await until('the free one is gone', () => isGone('free'))
    assert.equal(await isGone('bound'), false)
    await inPhase('bound', 'Released')
    await until('the other is gone', () => isGone('bound'))
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('a claim that took the name of another meanwhile keeps its finalizer', async () => {
  const cluster = await startCluster()
  const stop = new AbortController()
  try {
    const { client, surroundings } = cluster
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } }
    const create = () => client.create(claims, 'default', { metadata: { name: 'c' }, spec })
    let wasReplaced = false
    /**
     * While the controller lists pods another client removes the claim's finalizer, and creates a
     * new claim.
     */
    const list: ApiClient['list'] = async (ref, ...rest) => {
      const found = await client.list(ref, ...rest)
      if (ref.plural !== 'pods' || rest[1] !== undefined || wasReplaced) return found
      wasReplaced = true
      await client.patch(claims, 'default', 'c', { metadata: { finalizers: null } })
      await create()
      return found
    }
    let isDone = () => {}
    const done = new Promise<void>((resolve) => {
      isDone = resolve
    })
    const get: ApiClient['get'] = async (...asked) => {
      const found = await client.get(...asked)
      setTimeout(isDone, 20)
      return found
    }
    await create()
    await client.delete(claims, 'default', 'c')
    const clientFor = (account: string): ApiClient => {
      const own = surroundings.clientFor(account)
      return {
        ...{ get, list },
        watch: (...asked) => own.watch(...asked),
        update: (...asked) => own.update(...asked),
      } as ApiClient
    }
    void runControllers({
      controllers: [claimProtection],
      surroundings: { ...surroundings, clientFor },
      elect: undefined,
      signal: stop.signal,
    })
    await done
    const { metadata } = await client.get(claims, 'default', 'c')
    assert.deepEqual(metadata.finalizers, ['kubernetes.io/pvc-protection'])
    assert.deepEqual(cluster.complaints, [])
  } finally {
    stop.abort()
    await cluster.stop()
  }
})
