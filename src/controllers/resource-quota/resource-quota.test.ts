import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { configMap, core, startCluster } from '#controllers/cluster.suite.ts'
import { quotaController } from './resource-quota.ts'

test('a quota says what is used, and says it anew when something goes', async () => {
  const cluster = await startCluster()
  try {
    const { client } = cluster
    cluster.run(quotaController)
    for (const name of ['a', 'b'])
      await client.create(core('configmaps'), 'default', configMap('default', name))
    await client.create(core('resourcequotas'), 'default', {
      metadata: { name: 'q' },
      spec: { hard: { configmaps: '5', 'count/secrets': '3', 'example.com/unknown': '1' } },
    })
    const status = async () =>
      (await client.get(core('resourcequotas'), 'default', 'q')).status ?? {}
    await until('it is counted', async () => (await status()).used?.configmaps === '2')
    assert.deepEqual(await status(), {
      hard: { configmaps: '5', 'count/secrets': '3', 'example.com/unknown': '1' },
      used: { configmaps: '2', 'count/secrets': '0' },
    })
    await client.delete(core('configmaps'), 'default', 'a')
    await until('one less', async () => (await status()).used?.configmaps === '1')
    await client.patch(core('resourcequotas'), 'default', 'q', {
      spec: { hard: { configmaps: '7' } },
    })
    await until('the new limit', async () => (await status()).hard?.configmaps === '7')
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})
