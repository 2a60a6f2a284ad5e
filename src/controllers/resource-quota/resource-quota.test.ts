import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { configMap, core, startCluster } from '#controllers/cluster.suite.ts'
import { quotaController, quotaControllerWith } from './resource-quota.ts'

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

test('a kind that comes after the quota that counts it is counted', async () => {
  let isServed = false
  const cluster = await startCluster({
    wrap: (client) =>
      new Proxy(client, {
        get(target, name) {
          if (name !== 'resources') return Reflect.get(target, name).bind(target)
          return async () =>
            (await target.resources()).filter(({ plural }) => isServed || plural !== 'configmaps')
        },
      }),
  })
  try {
    const { client } = cluster
    cluster.run(quotaControllerWith({ followMs: 50 }))
    await client.create(core('resourcequotas'), 'default', {
      metadata: { name: 'q' },
      spec: { hard: { configmaps: '5', secrets: '3' } },
    })
    const used = async () =>
      (await client.get(core('resourcequotas'), 'default', 'q')).status?.used ?? {}
    await until('it is counted', async () => (await used()).secrets === '0')
    await client.create(core('configmaps'), 'default', configMap('default', 'a'))
    isServed = true
    await until('the new kind too', async () => (await used()).configmaps === '1')
    assert.deepEqual(cluster.complaints, [])
  } finally {
    await cluster.stop()
  }
})

test('counting what is many takes a part of the time only, however much of it goes', async () => {
  const listMs = 60
  let spentMs = 0
  const cluster = await startCluster({
    wrap: (client) =>
      new Proxy(client, {
        get(target, name) {
          if (name !== 'list') return Reflect.get(target, name).bind(target)
          const list: ApiClient['list'] = async (ref, ...rest) => {
            const began = performance.now()
            if (ref.plural === 'configmaps') await sleep(listMs)
            const found = await target.list(ref, ...rest)
            if (ref.plural === 'configmaps') spentMs += performance.now() - began
            return found
          }
          return list
        },
      }),
  })
  try {
    const { client } = cluster
    const names = Array.from({ length: 60 }, (_, i) => `m${i}`)
    for (const name of names)
      await client.create(core('configmaps'), 'default', configMap('default', name))
    cluster.run(quotaController)
    await client.create(core('resourcequotas'), 'default', {
      metadata: { name: 'q' },
      spec: { hard: { configmaps: '99' } },
    })
    const used = async () =>
      (await client.get(core('resourcequotas'), 'default', 'q')).status?.used?.configmaps
    await until('it is counted', async () => (await used()) === '60')
    await sleep(1500)
    spentMs = 0
    const began = performance.now()
    for (const name of names) {
      await client.delete(core('configmaps'), 'default', name)
      await sleep(20)
    }
    const tookMs = performance.now() - began
    assert.ok(spentMs < tookMs / 3 + 2 * listMs, `${spentMs} ms of ${tookMs} ms`)
    await until('all is counted', async () => (await used()) === '0')
  } finally {
    await cluster.stop()
  }
})

const container = { name: 'c', image: 'i' }
const made: Record<string, object> = {
  configmaps: {},
  pods: { spec: { containers: [container] } },
  services: { spec: { type: 'NodePort', ports: [{ port: 80 }] } },
}

/**
 * What happens to one of three objects while admission has counted a fourth that is not there yet.
 */
interface Happening {
  readonly plural: keyof typeof made
  readonly counted: string
  readonly happens: 'created' | 'deleted' | 'changed' | 'ended' | 'released'
  /** What the quota says afterwards. */
  readonly used: string
}
const happenings: Happening[] = [
  { plural: 'configmaps', counted: 'configmaps', happens: 'created', used: '4' },
  { plural: 'configmaps', counted: 'configmaps', happens: 'changed', used: '4' },
  { plural: 'configmaps', counted: 'configmaps', happens: 'deleted', used: '2' },
  { plural: 'pods', counted: 'pods', happens: 'created', used: '4' },
  { plural: 'pods', counted: 'pods', happens: 'changed', used: '4' },
  { plural: 'pods', counted: 'pods', happens: 'ended', used: '2' },
  { plural: 'services', counted: 'services.nodeports', happens: 'created', used: '4' },
  { plural: 'services', counted: 'services.nodeports', happens: 'released', used: '2' },
]
describe('while admission has counted what is not there yet', { concurrency: true }, () => {
  for (const { plural, counted, happens, used } of happenings) {
    test(`what admission counted of ${counted} is ${used} after one is ${happens}`, async () => {
      const cluster = await startCluster()
      try {
        const { client } = cluster
        const kind = core(plural)
        const quotas = core('resourcequotas')
        const add = (name: string) =>
          client.create(kind, 'default', { metadata: { name }, ...made[plural] })
        for (const name of ['a', 'b', 'c']) await add(name)
        cluster.run(quotaController)
        await client.create(quotas, 'default', {
          metadata: { name: 'q' },
          spec: { hard: { [counted]: '9' } },
        })
        const says = async () =>
          (await client.get(quotas, 'default', 'q')).status?.used?.[counted] as string | undefined
        await until('it is counted', async () => (await says()) === '3')
        // What a list brings to light is counted once more.
        await sleep(1200)
        await client.patch(
          quotas,
          'default',
          'q',
          { status: { used: { [counted]: '4' } } },
          'status',
        )
        const metadata = { labels: { is: 'changed' } }
        if (happens === 'created') await add('d')
        else if (happens === 'deleted') await client.delete(kind, 'default', 'a')
        else if (happens === 'changed') await client.patch(kind, 'default', 'a', { metadata })
        else if (happens === 'ended')
          await client.patch(kind, 'default', 'a', { status: { phase: 'Succeeded' } }, 'status')
        else await client.patch(kind, 'default', 'a', { spec: { type: 'ClusterIP' } })
        if (used !== '4') await until('it is counted anew', async () => (await says()) === used)
        else await sleep(200)
        assert.equal(await says(), used)
      } finally {
        await cluster.stop()
      }
    })
  }
})
