import assert from 'node:assert/strict'
import test from 'node:test'
import { FanOut } from './fan-out.ts'
import { entryOf, eventOf } from './picture.suite.ts'
import { Watcher, watcherQueueLengthMax } from './watcher.ts'

const event = (revision: number) => eventOf(revision, entryOf('x', revision))

test('what was delivered is taken once, in order', () => {
  const watcher = new Watcher('', undefined)
  watcher.deliver('ADDED', event(1))
  watcher.deliver('MODIFIED', event(2))
  assert.deepEqual(
    watcher.take().map((item) => `${item.type} ${item.event.revision}`),
    ['ADDED 1', 'MODIFIED 2'],
  )
  assert.deepEqual(watcher.take(), [])
})

test('it wakes when something comes into an empty queue, and at its end', () => {
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

test('a slow one is cut off at its limit, the others miss nothing', () => {
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
  assert.equal(quick.ended, false)
  assert.equal(taken, watcherQueueLengthMax + 5)
})
