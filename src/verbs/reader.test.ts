/** A follower that keeps its objects shares them, so nothing is parsed again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { systemClock } from '#base/clock.ts'
import { WatchCache } from '#watchcache/watch-cache.ts'
import { startVerbs } from './fixture.suite.ts'
import { objectReader } from './reader.ts'

test('objects that a follower keeps are parsed once, for all followers', async () => {
  const fixture = await startVerbs()
  const { server, storage } = fixture
  for (const name of ['a', 'b', 'c']) {
    const written = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }
    const bytes = Buffer.from(JSON.stringify(written))
    await storage.put(`/registry/namespaces/${name}`, bytes, { ifRevision: 0 })
  }
  let parsed = 0
  const parseStored = (bytes: Buffer) => {
    parsed++
    return server.parseStored(bytes)
  }
  const cache = new WatchCache(
    {
      storage,
      parse: parseStored,
      clock: systemClock,
      limits: () => ({ eventsMax: 10, ageMsMax: 1000 }),
      root: '/registry',
      report: (message, error) => assert.fail(`${message}: ${error}`),
    },
    await storage.currentRevision(),
  )
  cache.start()
  const reader = objectReader({ catalog: server.catalog, cache, storage, parseStored })
  const follow = async (keeps: boolean) => {
    const reported: KubeObject[] = []
    const changed = (object: KubeObject) => void reported.push(object)
    await reader.follow('', 'namespaces', { keeps, changed, deleted: () => {} })
    await new Promise(setImmediate)
    return reported
  }
  const kept = await follow(true)
  assert.deepEqual([kept.length, parsed], [3, 3])
  const others = await follow(false)
  assert.deepEqual([others.length, parsed], [3, 3])
  assert.ok(others.every((object, i) => object === kept[i]))
  await cache.close()
  await fixture.stop()
})
