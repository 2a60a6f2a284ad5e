import assert from 'node:assert/strict'
import test from 'node:test'
import { QueueSet, type QueueLimits } from './queue-set.ts'
import { deal, flowHash } from './shuffle-shard.ts'

const limits: QueueLimits = { concurrency: 2, queues: 8, queueLengthMax: 3, waitMsMax: 1000 }

function make(given: Partial<QueueLimits> = {}) {
  const timers = new Set<() => void>()
  const set = new QueueSet<{ hand: number[]; name: string }>(
    { ...limits, ...given },
    (_ms, call) => {
      timers.add(call)
      return () => timers.delete(call)
    },
  )
  return { set, timers }
}

const flow = (name: string, ...hand: number[]) => ({ name, hand })

test('a request with a free seat runs at once, without a promise; others wait', async () => {
  const { set, timers } = make()
  assert.equal(set.enter(flow('a', 1), 0, ''), 1)
  assert.equal(set.enter(flow('a', 1), 0, ''), 1)
  const third = set.enter(flow('a', 1), 0, '')
  assert.ok(third instanceof Promise)
  assert.deepEqual([set.executing, set.waiting, timers.size], [2, 1, 1])
  set.leave(1, 5, 5)
  assert.equal(await third, 1)
  assert.deepEqual([set.executing, set.waiting, timers.size], [2, 0, 0])
})

test('a full queue rejects, another queue of the hand does not', () => {
  const { set } = make()
  for (let i = 0; i < 5; i++) set.enter(flow('a', 1), 0, '')
  assert.equal(set.enter(flow('a', 1), 0, ''), 'queue-full')
  assert.ok(set.enter(flow('b', 1, 2), 0, '') instanceof Promise)
})

test('a level without queues rejects at once', () => {
  const { set } = make({ queues: 0, concurrency: 1 })
  assert.equal(set.enter(flow('a'), 0, ''), -1)
  assert.equal(set.enter(flow('a'), 0, ''), 'concurrency-limit')
  set.leave(-1, 1, 1)
  assert.equal(set.enter(flow('a'), 1, ''), -1)
})

test('waiting ends at the timeout, and when the client disconnects', async () => {
  const { set, timers } = make({ concurrency: 1 })
  set.enter(flow('a', 1), 0, '')
  const late = set.enter(flow('a', 1), 0, '')
  for (const call of [...timers]) call()
  assert.equal(await late, 'time-out')
  const client = new AbortController()
  const gone = set.enter(flow('a', 1), 0, '', () => client.signal)
  client.abort()
  assert.equal(await gone, 'cancelled')
  assert.deepEqual([set.waiting, set.executing], [0, 1])
})

test('a noisy client cannot starve another', async () => {
  const { set } = make({ concurrency: 4, queues: 64, queueLengthMax: 50 })
  const hand = (name: string) => deal(flowHash('global-default', name), 64, 6)
  const noisy = { name: 'noisy', hand: hand('noisy') }
  const quiet = { name: 'quiet', hand: hand('quiet') }
  const served: string[] = []
  const running: { name: string; index: number }[] = []
  let now = 0
  const ask = (one: typeof noisy) => {
    const entered = set.enter(one, now, '')
    if (typeof entered === 'number') running.push({ name: one.name, index: entered })
    else if (typeof entered !== 'string') {
      void entered.then((outcome) => {
        if (typeof outcome === 'number') running.push({ name: one.name, index: outcome })
      })
    }
  }
  // The noisy client has been busy for long, and has hundreds of waiting requests when the quiet
  // one starts.
  for (let i = 0; i < 300; i++) ask(noisy)
  const finishOne = async () => {
    now += 10
    const done = running.shift()
    if (done === undefined) return
    served.push(done.name)
    set.leave(done.index, 40, now)
    await Promise.resolve()
  }
  for (let i = 0; i < 50; i++) await finishOne()
  served.length = 0
  ask(quiet)
  ask(quiet)
  for (let i = 0; i < 20; i++) await finishOne()
  assert.equal(served.filter((name) => name === 'quiet').length, 2, served.join(' '))
})

test('hands have different cards below the deck size, and are equal for equal flows', () => {
  for (const name of ['a', 'b', 'system:serviceaccount:x:y', '']) {
    const hand = deal(flowHash('schema', name), 128, 6)
    assert.equal(new Set(hand).size, 6)
    assert.ok(hand.every((card) => card >= 0 && card < 128))
    assert.deepEqual(hand, deal(flowHash('schema', name), 128, 6))
  }
  assert.deepEqual(deal(0n, 4, 4), [0, 1, 2, 3])
})
