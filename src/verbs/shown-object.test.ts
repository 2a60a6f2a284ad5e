/**
 * Watchers in this process share one parsed object per change, and the server's own writes are not
 * parsed at all.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startVerbs } from './fixture.suite.ts'
import { localClient } from './local-client.ts'

const user = { name: 'tester', uid: '', groups: [], extra: {} }
const maps = { group: '', version: 'v1', plural: 'configmaps' }

test("the server's own changes are not parsed for any number of watchers", async () => {
  const fixture = await startVerbs()
  let parsed = 0
  const server = {
    ...fixture.server,
    parseStored: (bytes: Buffer) => {
      parsed++
      return fixture.server.parseStored(bytes)
    },
  }
  const stop = new AbortController()
  const heard: string[][] = []
  const shown = new Set<object>()
  const ends = [0, 1, 2].map(async (i) => {
    heard[i] = []
    const client = localClient(server, user, 'test')
    for await (const { type, object } of client.watch(maps, '', '1', stop.signal)) {
      heard[i].push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`)
      if (type !== 'DELETED') shown.add(object)
    }
  })
  const rows: [what: string, write: () => Promise<unknown>, parsedForWatchers: number][] = [
    ['create', () => fixture.create('configmaps', { metadata: { name: 'a' } }), 0],
    ['update', () => fixture.patch('configmaps', 'a', 'merge', { data: { b: 'c' } }), 0],
    ['delete', () => fixture.remove('configmaps', 'a'), 0],
  ]
  try {
    await fixture.create('namespaces', { metadata: { name: 'default' } })
    for (const [what, write, most] of rows) {
      parsed = 0
      await write()
      await fixture.settled()
      await new Promise(setImmediate)
      assert.ok(parsed <= most, `${what}: parsed ${parsed} times`)
    }
    stop.abort()
    await Promise.all(ends)
    assert.deepEqual(heard[0], ['ADDED a 3', 'MODIFIED a 4', 'DELETED a 5'])
    assert.deepEqual(heard[1], heard[0])
    assert.deepEqual(heard[2], heard[0])
    assert.equal(shown.size, 2, 'all look at the same object')
  } finally {
    await fixture.stop()
  }
})

test("a watcher that changes its own copy does not change the others'", async () => {
  const fixture = await startVerbs()
  const client = localClient(fixture.server, user, 'test')
  try {
    const sent = { metadata: { name: 'a', namespace: 'default' }, data: { one: '1' } }
    await client.create(maps, 'default', sent)
    assert.deepEqual(sent, { metadata: { name: 'a', namespace: 'default' }, data: { one: '1' } })
  } finally {
    await fixture.stop()
  }
})
