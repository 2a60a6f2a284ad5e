import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import { WireWriter } from '#base/wire.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import { Watch, type WatchParts } from './watch.ts'

/** A watch whose stream delivers the messages of a test. */
function startWatch() {
  const stream = Object.assign(new EventEmitter(), {
    isPaused: false,
    write() {},
    cancel() {},
    pause() {
      stream.isPaused = true
    },
    resume() {
      stream.isPaused = false
    },
  })
  const connection = { endpoints: 'http://a:1', watch: () => stream, watchFailed() {} }
  const progress = { markerKey: 'marker' }
  const parts = { connection, progress, range: { start: 'a', end: 'b' } }
  const ended: Watch[] = []
  const { signal } = new AbortController()
  const watch = new Watch(parts as unknown as WatchParts, { after: 1, signal }, (one) =>
    ended.push(one),
  )
  watch.start()
  return { stream, watch, ended }
}

test('an invalid message ends only the feed', async () => {
  const { stream, watch, ended } = startWatch()
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

test('a stream is paused while its reader has many unread bytes, even in few changes', async () => {
  const { stream, watch } = startWatch()
  const megabyte = 1024 * 1024
  let reported = 0
  for (; !stream.isPaused; reported++)
    stream.emit('data', eventOf(reported + 2, Buffer.alloc(megabyte)))
  assert.equal(reported, 32)
  const { value } = await watch.next()
  assert.equal(value[0].bytes.length, megabyte)
  assert.equal(stream.isPaused, false)
  await watch.return()
})

/** A response of etcd with a write of the key `a`. */
function eventOf(revision: number, value: Buffer): Buffer {
  const writer = new WireWriter(value.length + 100)
  const field = (number: number, write: () => void, type = 2) => {
    write()
    writer.varint((number << 3) | type)
  }
  const message = (number: number, write: () => void) =>
    field(number, () => {
      const start = writer.length
      write()
      writer.lengthSince(start)
    })
  message(11, () =>
    message(2, () => {
      field(5, () => writer.delimited(value))
      field(3, () => writer.varint(revision), 0)
      field(1, () => writer.string('a'))
    }),
  )
  message(1, () => field(3, () => writer.varint(revision), 0))
  return writer.bytes()
}
