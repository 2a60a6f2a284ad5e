/** A server whose etcd is stopped ends soon, and answers the requests that wait for etcd. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdServer, etcdVersion } from '../src/storage/etcd/etcd-server.fixture.ts'
import { startServer } from './running-server.ts'

const skip = etcdVersion() === undefined ? 'there is no etcd on PATH' : false

test('a server stops within 30 seconds while etcd is stopped', { skip }, async () => {
  const etcd = await EtcdServer.start()
  try {
    const server = await startServer([`--etcd-servers=${etcd.endpoint}`])
    await etcd.freeze()
    const maps = '/api/v1/namespaces/default/configmaps'
    const answers = [
      server.ask('GET', maps),
      server.ask('POST', maps, { metadata: { name: 'late' } }),
    ]
    const answered = Promise.all(answers)
    await sleep(500)
    const began = performance.now()
    await server.stop()
    assert.ok(performance.now() - began < 30_000)
    const statuses = (await answered).map(({ status }) => status)
    // Whether the object was created is unknown.
    assert.deepEqual(statuses, [503, 500])
  } finally {
    etcd.thaw()
    await etcd.dispose()
  }
})
