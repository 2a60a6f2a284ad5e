import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { core, startCluster } from '#controllers/cluster.suite.ts'
import { podCollectorWith } from './pod-collector.ts'

const pods = core('pods')
const nodes = core('nodes')
const pod = (name: string, nodeName?: string): KubeObject => ({
  metadata: { name, namespace: 'default' },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    terminationGracePeriodSeconds: 0,
    ...(nodeName && { nodeName }),
  },
})

test('pods of nodes that are gone, or never came, go; those of others stay', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(podCollectorWith({ quarantineMs: 60, sweepMs: 10 }))
    for (const name of ['stays', 'goes']) await client.create(nodes, '', { metadata: { name } })
    const made: [name: string, node: string | undefined][] = [
      ['on-one-that-stays', 'stays'],
      ['on-one-that-goes', 'goes'],
      ['on-one-that-never-was', 'never'],
      ['on-one-that-comes-late', 'late'],
      ['on-none', undefined],
    ]
    for (const [name, node] of made) await client.create(pods, 'default', pod(name, node))
    await client.create(nodes, '', { metadata: { name: 'late' } })
    await client.delete(nodes, '', 'goes')
    const names = async () =>
      (await client.list(pods, 'default')).items.map(({ metadata }) => metadata.name)
    await until('they are gone', async () => (await names()).length === 3)
    assert.deepEqual(await names(), ['on-none', 'on-one-that-comes-late', 'on-one-that-stays'])
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

for (const node of [',metadata.namespace=victim', '=a', 'a\\', 'a,b'])
  test(`pods bound to ${node} go, and no others`, async () => {
    const cluster = await startCluster()
    try {
      const { client, server } = cluster
      await client.create(core('namespaces'), '', { metadata: { name: 'victim' } })
      await client.create(pods, 'victim', { ...pod('waits'), metadata: { name: 'waits' } })
      await client.create(pods, 'default', pod('bound', 'placeholder'))
      // As a binding leaves it, which may name anything.
      const key = '/registry/pods/default/bound'
      const { value } = await server.storage.get(key)
      assert.ok(value)
      const text = value.bytes.toString().replace('"placeholder"', JSON.stringify(node))
      await server.storage.put(key, Buffer.from(text), { ifRevision: value.revision })
      cluster.run(podCollectorWith({ quarantineMs: 10, sweepMs: 10 }))
      const names = async () =>
        (await client.list(pods, '')).items.map(({ metadata }) => metadata.name)
      await until('one is gone', async () => (await names()).length < 2)
      assert.deepEqual(await names(), ['waits'])
      assert.deepEqual(cluster.complaints, [])
    } finally {
      await cluster.stop()
    }
  })

test('of pods that have ended the oldest go beyond a number', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    for (const [i, phase] of [
      'Succeeded',
      'Failed',
      'Running',
      'Failed',
      'Succeeded',
      'Failed',
    ].entries()) {
      const made = await client.create(pods, 'default', pod(`pod-${i}`))
      await client.update(pods, { ...made, status: { phase } }, 'status')
    }
    cluster.run(podCollectorWith({ quarantineMs: 60_000, sweepMs: 10 }))
    const names = async () =>
      (await client.list(pods, 'default')).items.map(({ metadata }) => metadata.name)
    await until('they are gone', async () => (await names()).length === 4)
    assert.deepEqual(await names(), ['pod-2', 'pod-3', 'pod-4', 'pod-5'])
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})
