/**
 * The storage contract on kine (0.13 or later, if on PATH), which accepts only the requests of
 * kube-apiserver.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'
import { collect, openedAgain, storageSuite, won } from '#storage/storage.suite.ts'
import { openEtcdStorage } from './etcd.ts'
import { EtcdServer, hasKine } from './etcd-server.fixture.ts'

const skip = hasKine() ? false : 'there is no kine on PATH'

describe('kine', { skip }, () => {
  let server: EtcdServer
  let prefixes = 0
  before(async () => {
    server = await EtcdServer.startKine()
  })
  after(() => server.dispose())

  storageSuite('contract', {
    open: () => {
      const watchPrefix = `/registry/${prefixes++}/`
      const options = { endpoints: [server.endpoint], watchPrefix }
      return openedAgain(watchPrefix, () => openEtcdStorage(options))
    },
    ttlSecondsMin: 1,
    feedFirst: false,
    compactsOnRequest: false,
  })

  test('kine gets no compaction requests: it compacts by itself and would lose revisions that readers need', async () => {
    const storage = await openEtcdStorage({ endpoints: [server.endpoint] })
    const first = won(await storage.put('/registry/kept', Buffer.from('1'), { ifRevision: 0 }))
    const second = won(await storage.put('/registry/kept', Buffer.from('2'), { ifRevision: first }))
    await storage.compact(second)
    assert.equal(storage.compactedUpTo(), 0)
    assert.equal(String((await storage.get('/registry/kept', first)).value?.bytes), '1')
    await storage.close()
  })

  test('one reader, or two, learn by a marker of a revision that none of their keys has', async () => {
    const endpoints = [server.endpoint]
    const stores = await Promise.all(
      [1, 2].map(() => openEtcdStorage({ endpoints, watchPrefix: '/registry/quiet/' })),
    )
    const [one] = stores as [Storage, Storage]
    const abort = new AbortController()
    const after = await one.currentRevision()
    const reached = [after, after]
    const reading = stores.map(async (storage, i) => {
      const progress = (revision: number) => {
        reached[i] = revision
      }
      for await (const _ of storage.changes({ after, signal: abort.signal, progress }))
        assert.fail('a marker is no change')
    })
    for (let round = 0; round < 3; round++) {
      won(await one.put(`/registry/loud/${round}`, Buffer.from('x'), { ifRevision: 0 }))
      const wanted = Math.max(
        ...(await Promise.all(stores.map((storage) => storage.currentRevision()))),
      )
      await until('both to hear of it', () => reached.every((revision) => revision >= wanted))
    }
    abort.abort()
    await Promise.all(reading)
    await Promise.all(stores.map((storage) => storage.close()))
  })

  test('killed and restarted: the feed misses nothing, and lists are in key order', async () => {
    const storage = await openEtcdStorage({ endpoints: [server.endpoint] })
    const feed = collect(storage, await storage.currentRevision(), 4)
    const put = async (name: string) =>
      won(await storage.put(`/registry/again/${name}`, Buffer.from(name), { ifRevision: 0 }))
    await put('d')
    await put('c')
    await server.kill()
    await server.resume()
    await until('the trouble to end', () => storage.trouble() === undefined)
    await put('b')
    await put('a')
    const names = (keys: { key: string }[]) => keys.map(({ key }) => key.slice(-1)).join('')
    assert.equal(names(await feed), 'dcba')
    const { items } = (await storage.list(prefixRange('/registry/again/'))).value
    assert.equal(names(items), 'abcd')
    await storage.close()
  })
})
