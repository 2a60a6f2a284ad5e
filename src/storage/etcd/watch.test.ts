import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import { StorageUnavailable } from '#storage/storage.ts'
import { Watch, type WatchParts } from './watch.ts'

test('what no etcd says ends the feed, and nothing else', async () => {
  const stream = Object.assign(new EventEmitter(), { write() {}, cancel() {} })
  const connection = { endpoints: 'http://a:1', watch: () => stream, watchFailed() {} }
  const parts = { connection, range: { start: 'a', end: 'b' } } as unknown as WatchParts
  const ended: Watch[] = []
  const watch = new Watch(parts, { after: 1, signal: new AbortController().signal }, (one) =>
    ended.push(one),
  )
  watch.start()
  const next = watch.next()
  // A header that is longer than the message.
  stream.emit('data', Buffer.from([0x0a, 0x7f, 1]))
  await assert.rejects(next, (error: Error) => {
    assert.ok(error instanceof StorageUnavailable)
    assert.equal(error.message, 'etcd (http://a:1) cannot be used: unexpected EOF')
    return true
  })
  assert.deepEqual(ended, [watch])
})
