import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { until } from '#base/until.fixture.ts'
import { startCluster } from '#controllers/cluster.suite.ts'
import { selectControllers } from '#controllers/names.ts'
import { persistentVolumes, volumeAttributesClasses } from '#controllers/resources.ts'
import { attributesClassProtection } from './class-protection.ts'

const attributesClass = (name: string): KubeObject => ({
  metadata: { name, finalizers: ['kubernetes.io/vac-protection'] },
  driverName: 'driver.example',
  parameters: { a: 'b' },
})

test('a deleted class remains as long as a volume uses it', async () => {
  const cluster = await startCluster({ release: 37 })
  try {
    const { client } = cluster
    for (const name of ['used', 'free'])
      await client.create(volumeAttributesClasses, '', attributesClass(name))
    await client.create(persistentVolumes, '', {
      metadata: { name: 'volume' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        volumeAttributesClassName: 'used',
        csi: { driver: 'driver.example', volumeHandle: 'handle' },
      },
    })
    const volume = await client.get(persistentVolumes, '', 'volume')
    assert.equal(volume.spec?.volumeAttributesClassName, 'used')
    cluster.run(attributesClassProtection)
    for (const name of ['used', 'free']) await client.delete(volumeAttributesClasses, '', name)
    const names = async () =>
      (await client.list(volumeAttributesClasses, '')).items.map(({ metadata }) => metadata.name)
    await until('the free one is gone', async () => (await names()).join() === 'used')
    const { finalizers: _, ...metadata } = volume.metadata
    await client.update(persistentVolumes, { ...volume, metadata })
    await client.delete(persistentVolumes, '', 'volume')
    await until('the other one is gone', async () => (await names()).length === 0)
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

for (const [release, count] of [
  [33, 0],
  [34, 1],
] as const)
  test(`1.${release} runs ${count} controllers of classes by default`, () => {
    const selected = selectControllers(['*'], release) as readonly string[]
    assert.equal(selected.filter((name) => name.startsWith('volumeattributesclass')).length, count)
  })
