import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { eventsIn } from './remote-answer.ts'

const { signal } = new AbortController()
const eventsOf = (pieces: Iterable<string>) => {
  const answer = Readable.from(pieces, { objectMode: false }) as unknown as IncomingMessage
  return { answer, events: Array.fromAsync(eventsIn(answer, signal)) }
}

test('events may arrive in any pieces, and bookmarks are omitted', async () => {
  const text = `{"type":"ADDED","object":{"a":"ü"}}\n{"type":"BOOKMARK","object":{}}\n`
  for (const pieces of [[text], text])
    assert.deepEqual(await eventsOf(pieces).events, [{ type: 'ADDED', object: { a: 'ü' } }])
})

test('an event without end is rejected', async () => {
  function* endless() {
    for (let i = 0; i < 2000; i++) yield 'x'.repeat(64 << 10)
  }
  const { answer, events } = eventsOf(endless())
  await assert.rejects(events, { code: 503, message: 'an event is too large' })
  assert.ok(answer.destroyed)
})

test('an event in thousands of pieces is searched only once', async () => {
  const text = `${JSON.stringify({ type: 'ADDED', object: { a: 'x'.repeat(4 << 20) } })}\n`
  const pieces = Array.from({ length: Math.ceil(text.length / 1024) }, (_, i) =>
    text.slice(i * 1024, (i + 1) * 1024),
  )
  const before = process.cpuUsage()
  const events = await eventsOf(pieces).events
  assert.equal(events.length, 1)
  const spentMs = process.cpuUsage(before).user / 1000
  assert.ok(spentMs < 1500, `${spentMs} ms`)
})
