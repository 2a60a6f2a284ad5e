import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { drained } from './drained.ts'

const listeners = (stream: PassThrough) =>
  stream.listenerCount('drain') + stream.listenerCount('close')

const rows: [name: string, act: (stream: PassThrough) => void][] = [
  ['it is read from', (stream) => void stream.resume()],
  ['it is destroyed', (stream) => void stream.destroy()],
]
for (const [name, act] of rows) {
  test(`the wait for room ends when ${name}, and leaves no listener`, async () => {
    const stream = new PassThrough({ highWaterMark: 1 })
    const before = listeners(stream)
    for (let i = 0; i < 20; i++) {
      if (stream.destroyed) break
      assert.equal(stream.write('xx'), false)
      const waiting = drained(stream)
      act(stream)
      await waiting
      stream.pause()
    }
    assert.equal(listeners(stream), before)
  })
}

test('a destroyed stream is not waited for', async () => {
  const stream = new PassThrough()
  stream.destroy()
  await new Promise((resolve) => stream.once('close', resolve))
  await drained(stream)
})
