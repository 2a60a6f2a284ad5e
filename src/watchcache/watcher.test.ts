import assert from 'node:assert/strict'
import test from 'node:test'
import { Batch } from './batch.ts'
import type { Entry } from './entry.ts'
import { FanOut } from './fan-out.ts'
import { entryOf, eventOf } from './picture.suite.ts'
import { Watcher, watcherQueueLengthMax } from './watcher.ts'

const event = (revision: number) => eventOf(revision, entryOf('x', revision))

test('queued events are taken once, in order', () => {
  const watcher = new Watcher('', undefined)
  watcher.deliver('ADDED', event(1))
  watcher.deliver('MODIFIED', event(2))
  assert.deepEqual(
    watcher.take().map((item) => `${item.type} ${item.event.revision}`),
    ['ADDED 1', 'MODIFIED 2'],
  )
  assert.deepEqual(watcher.take(), [])
})

test('the watcher wakes when its empty queue gets an event, and when it ends', () => {
  const watcher = new Watcher('', undefined)
  let woken = 0
  watcher.wake = () => woken++
  watcher.deliver('ADDED', event(1))
  watcher.deliver('ADDED', event(2))
  assert.equal(woken, 1)
  watcher.take()
  watcher.deliver('ADDED', event(3))
  assert.equal(woken, 2)
  watcher.end()
  watcher.end()
  assert.equal(woken, 3)
  watcher.deliver('ADDED', event(4))
  assert.equal(watcher.take().length, 1, 'nothing comes after the end')
})

test('a slow watcher is ended at its limit, others miss nothing', () => {
  const fanOut = new FanOut()
  const slow = new Watcher('', undefined)
  const quick = new Watcher('', undefined)
  fanOut.add(slow)
  fanOut.add(quick)
  let taken = 0
  for (let i = 1; i <= watcherQueueLengthMax + 5; i++) {
    fanOut.publish(event(i))
    for (const item of quick.take()) assert.equal(item.event.revision, ++taken)
  }
  assert.equal(slow.ended, true)
  assert.equal(slow.queued, watcherQueueLengthMax + 1)
  assert.equal(quick.ended, false)
  assert.equal(taken, watcherQueueLengthMax + 5)
})

test('past events are filtered by namespace and selector', () => {
  const web = (revision: number, namespace: string) =>
    entryOf('x', revision, { app: 'web' }, namespace)
  const past = [
    eventOf(1, web(1, 'a')),
    eventOf(2, entryOf('x', 2), web(1, 'a')),
    eventOf(3, web(3, 'b')),
    eventOf(4, undefined, web(3, 'b')),
    eventOf(5, entryOf('y', 5)),
  ]
  const rows: [namespace: string, selects: boolean, expected: string][] = [
    ['', false, 'ADDED 1, MODIFIED 2, ADDED 3, DELETED 4, ADDED 5'],
    ['a', false, 'ADDED 1, MODIFIED 2, ADDED 5'],
    ['b', false, 'ADDED 3, DELETED 4'],
    ['c', false, ''],
    ['', true, 'ADDED 1, DELETED 2, ADDED 3, DELETED 4'],
    ['a', true, 'ADDED 1, DELETED 2'],
  ]
  for (const [namespace, selects, expected] of rows) {
    const matches = selects ? ({ labels }: Entry) => labels?.app === 'web' : undefined
    const watcher = new Watcher(namespace, matches)
    watcher.receive(past)
    const reported = watcher.take().map(({ type, event }) => `${type} ${event.revision}`)
    assert.equal(reported.join(', '), expected, `${namespace} ${selects}`)
  }
})

test('a watcher since a revision gets only newer events, and the end', () => {
  const watcher = new Watcher('a', ({ name }) => name === 'x')
  const since = watcher.since(2)
  assert.deepEqual([since.namespace, since.matches], ['a', watcher.matches])
  for (const revision of [1, 2, 3, 4]) since.deliver('ADDED', event(revision))
  assert.deepEqual(
    watcher.take().map((item) => item.event.revision),
    [3, 4],
  )
  since.end()
  assert.equal(watcher.ended, true)
})

test('a watcher with large queued objects is ended by their bytes', () => {
  const bytes = Buffer.alloc(1 << 20)
  const entry = entryOf('x', 1)
  const large = eventOf(1, { ...entry, cut: { ...entry.cut, bytes } })
  const reads = new Watcher('', undefined)
  const waits = new Watcher('', undefined)
  let delivered = 0
  for (; !waits.ended && delivered < 1000; delivered++) {
    for (const watcher of [reads, waits]) watcher.deliver('ADDED', large)
    assert.equal(reads.queuedBytes, bytes.length)
    reads.take()
    assert.equal(reads.queuedBytes, 0)
  }
  assert.deepEqual([delivered, reads.ended], [129, false])
})

test('a batch watcher gets a batch at the end of a turn, and takes several as one', () => {
  const watcher = new Watcher('a', ({ name }) => name === 'x')
  const { namespace, matches, deliverBatch, end } = watcher.inBatches()
  assert.deepEqual([namespace, matches], ['a', watcher.matches])
  const first = Batch.of([event(1), event(2)], undefined)
  deliverBatch(first)
  assert.deepEqual([watcher.queued, watcher.queuedBytes], [2, first.bytes])
  assert.equal(watcher.takeBatch(), first)
  assert.equal(watcher.takeBatch(), undefined)
  deliverBatch(first)
  watcher.deliver('MODIFIED', event(3))
  assert.deepEqual(
    watcher.takeBatch()?.items.map((item) => `${item.type} ${item.event.revision}`),
    ['ADDED 1', 'ADDED 2', 'MODIFIED 3'],
  )
  assert.deepEqual(
    [watcher.queued, watcher.queuedBytes, first.items.length],
    [0, 0, 2],
    'what others hear stays as it is',
  )
  end()
  assert.equal(watcher.ended, true)
})
