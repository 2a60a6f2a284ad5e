import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Feed } from './feed.ts'
import { type Change, type Revision, RevisionCompacted } from './storage.ts'

/** A store of numbered changes that counts how often its history was read. */
function numbered() {
  const log: Change[] = []
  const state = { compacted: 0, historyReads: 0 }
  const feed = new Feed({
    history: (after) => {
      state.historyReads++
      return log.filter((change) => change.revision > after).slice(0, 1000)
    },
    compactedUpTo: () => state.compacted,
  })
  const publish = (count: number) => {
    const batch: Change[] = []
    for (let i = 0; i < count; i++) {
      batch.push({ key: '/a', revision: log.length + i + 1, bytes: Buffer.from('x') })
    }
    log.push(...batch)
    feed.publish(batch)
  }
  const read = (after: Revision, signal = new AbortController().signal) =>
    feed.read({ after, signal })[Symbol.asyncIterator]()
  return { feed, state, publish, read }
}

test('a reader that falls too far behind reads the history again and misses nothing', async () => {
  const { state, publish, read } = numbered()
  const reader = read(0)
  const first = reader.next()
  publish(1)
  assert.equal((await first).value[0].revision, 1)
  const readsBefore = state.historyReads
  for (let i = 0; i < 12; i++) publish(1000)
  let seen = 1
  while (seen < 12_001) {
    for (const change of (await reader.next()).value) assert.equal(change.revision, ++seen)
  }
  assert.ok(state.historyReads > readsBefore)
  const next = reader.next()
  publish(1)
  assert.equal((await next).value[0].revision, 12_002)
})

test('a reader whose history is compacted by then gets an error', async () => {
  const { state, publish, read } = numbered()
  const reader = read(0)
  const first = reader.next()
  publish(1)
  await first
  for (let i = 0; i < 12; i++) publish(1000)
  state.compacted = 5000
  await assert.rejects(reader.next(), RevisionCompacted)
  assert.equal((await reader.next()).done, true)
})

test('compaction does not affect a reader of the queue', async () => {
  const { state, publish, read } = numbered()
  const reader = read(0)
  const first = reader.next()
  publish(1)
  await first
  publish(5)
  state.compacted = 6
  assert.equal((await reader.next()).value.length, 5)
})

test('a waiting reader gets a batch before later subscribers', async () => {
  const { publish, read } = numbered()
  const order: string[] = []
  const reading = read(0)
    .next()
    .then(() => order.push('reader'))
  publish(1)
  await Promise.resolve().then(() => order.push('writer'))
  await reading
  assert.deepEqual(order, ['reader', 'writer'])
})

test('an ended feed ends current and later readers', async () => {
  const { feed, read } = numbered()
  const waiting = read(0).next()
  feed.end(new Error('over'))
  await assert.rejects(waiting, /over/)
  await assert.rejects(read(0).next(), /over/)
})
