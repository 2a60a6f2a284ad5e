import assert from 'node:assert/strict'
import test from 'node:test'
import { type Batch, type EventType, transition } from './batch.ts'
import type { Entry } from './entry.ts'
import { FanOut, type Subscriber } from './fan-out.ts'
import type { CacheEvent } from './history.ts'
import { entryOf, eventOf, settle } from './picture.suite.ts'
import { Watcher } from './watcher.ts'

const wanted = (entry: Entry) => entry.labels?.on === 'yes'

test('a selector sees objects enter and leave its selection', () => {
  const yes = { on: 'yes' }
  const no = { on: 'no' }
  const cases: [
    before: object | undefined,
    now: object | undefined,
    selected: unknown,
    everything: unknown,
  ][] = [
    [undefined, yes, 'ADDED', 'ADDED'],
    [undefined, no, undefined, 'ADDED'],
    [yes, yes, 'MODIFIED', 'MODIFIED'],
    [yes, no, 'DELETED', 'MODIFIED'],
    [no, yes, 'ADDED', 'MODIFIED'],
    [no, no, undefined, 'MODIFIED'],
    [yes, undefined, 'DELETED', 'DELETED'],
    [no, undefined, undefined, 'DELETED'],
  ]
  for (const [before, now, selected, everything] of cases) {
    const entry = (labels: object | undefined, revision: number) =>
      labels && entryOf('x', revision, labels as Record<string, string>)
    const event = eventOf(2, entry(now, 2), entry(before, 1))
    assert.equal(transition(event, wanted), selected, JSON.stringify([before, now]))
    assert.equal(transition(event, undefined), everything, JSON.stringify([before, now]))
  }
})

function listener(
  namespace: string,
  fails = false,
): Subscriber & { heard: string[]; ends: number } {
  return {
    namespace,
    matches: undefined,
    heard: [],
    ends: 0,
    deliver(type: EventType, event: CacheEvent) {
      if (fails) throw new Error('not today')
      this.heard.push(`${type} ${event.revision}`)
    },
    end() {
      this.ends++
    },
  }
}

test('subscribers of the namespace and of all namespaces are notified once each', () => {
  const fanOut = new FanOut()
  const all = listener('')
  const a = listener('a')
  const b = listener('b')
  for (const one of [all, a, b]) fanOut.add(one)
  assert.equal(fanOut.size, 3)
  fanOut.publish(eventOf(1, entryOf('x', 1, undefined, 'a')))
  fanOut.publish(eventOf(2, entryOf('x', 2, undefined, 'c')))
  fanOut.publish(eventOf(3, undefined, entryOf('x', 1, undefined, 'b')))
  assert.deepEqual(all.heard, ['ADDED 1', 'ADDED 2', 'DELETED 3'])
  assert.deepEqual(a.heard, ['ADDED 1'])
  assert.deepEqual(b.heard, ['DELETED 3'])
  for (const one of [all, a, b]) fanOut.remove(one)
  fanOut.remove(a)
  assert.equal(fanOut.size, 0)
})

test('a subscriber that fails does not affect others', () => {
  const fanOut = new FanOut()
  const heard = [listener(''), listener('', true), listener(''), listener('a', true), listener('a')]
  for (const one of heard) fanOut.add(one)
  assert.throws(() => fanOut.publish(eventOf(1, entryOf('x', 1))), /not today/)
  assert.deepEqual(
    heard.map((one) => one.heard.length),
    [1, 0, 1, 0, 1],
  )
})

test('all subscribers are notified of the end, later ones too', () => {
  const fanOut = new FanOut()
  const before = [listener(''), listener('a')]
  for (const one of before) fanOut.add(one)
  fanOut.endAll()
  const late = listener('a')
  fanOut.add(late)
  assert.deepEqual(
    [...before, late].map((one) => one.ends),
    [1, 1, 1],
  )
})

test('an unsubscribed subscriber does not affect others', () => {
  for (const namespace of ['a', '']) {
    const fanOut = new FanOut()
    const [staying, leaving] = [
      new Watcher(namespace, undefined),
      new Watcher(namespace, undefined),
    ]
    fanOut.add(staying)
    fanOut.add(leaving)
    fanOut.remove(leaving)
    fanOut.publish(eventOf(1, entryOf('x', 1)))
    assert.deepEqual([staying.queued, leaving.queued, fanOut.size], [1, 0, 1])
    assert.equal(fanOut.isFollowed, namespace === '')
    fanOut.remove(staying)
    assert.deepEqual([fanOut.size, fanOut.isFollowed], [0, false])
  }
})

/** A batch subscriber that records its batches. */
function patient(namespace: string, matches?: (entry: Entry) => boolean) {
  const heard: string[] = []
  const batches: Batch[] = []
  const subscriber = {
    namespace,
    matches,
    ends: 0,
    deliverBatch(batch: Batch) {
      batches.push(batch)
      heard.push(batch.items.map(({ type, event }) => `${type} ${event.revision}`).join('+'))
    },
    end: () => void subscriber.ends++,
  }
  return { subscriber, heard, batches }
}

test('batch subscribers get all changes at the end of the turn, unfiltered ones in one shared batch', async () => {
  const fanOut = new FanOut()
  const [all, same, a, b, selects] = [
    patient(''),
    patient(''),
    patient('a'),
    patient('b'),
    patient('', wanted),
  ]
  for (const { subscriber } of [all, same, a, b, selects]) fanOut.add(subscriber)
  const prompt = listener('')
  fanOut.add(prompt)
  assert.deepEqual([fanOut.size, fanOut.isFollowed], [6, true])
  fanOut.publish(eventOf(1, entryOf('x', 1, undefined, 'a')))
  fanOut.publish(eventOf(2, entryOf('y', 2, { on: 'yes' }, 'b')))
  fanOut.publish(eventOf(3, undefined, entryOf('x', 1, undefined, 'a')))
  assert.deepEqual([prompt.heard.length, all.heard], [3, []])
  await settle()
  assert.deepEqual(all.heard, ['ADDED 1+ADDED 2+DELETED 3'])
  assert.equal(all.batches[0], same.batches[0])
  assert.deepEqual(
    [a.heard, b.heard, selects.heard],
    [['ADDED 1+DELETED 3'], ['ADDED 2'], ['ADDED 2']],
  )
  fanOut.publish(eventOf(4, entryOf('z', 4, undefined, 'c')))
  await settle()
  assert.deepEqual([all.heard[1], a.heard.length, selects.heard.length], ['ADDED 4', 1, 1])
  for (const { subscriber } of [all, same, a, b, selects]) fanOut.remove(subscriber)
  fanOut.remove(prompt)
  assert.deepEqual([fanOut.size, fanOut.isFollowed], [0, false])
})

test('a subscriber gets no earlier changes, and no change twice', async () => {
  const fanOut = new FanOut()
  const [before, after] = [patient(''), patient('')]
  fanOut.add(before.subscriber)
  fanOut.publish(eventOf(1, entryOf('x', 1)))
  fanOut.add(after.subscriber)
  fanOut.publish(eventOf(2, entryOf('x', 2)))
  fanOut.deliverPending()
  fanOut.deliverPending()
  assert.deepEqual([before.heard, after.heard], [['ADDED 1', 'ADDED 2'], ['ADDED 2']])
  await settle()
  assert.deepEqual([before.heard.length, after.heard.length], [2, 1])
})

test('after unsubscribing nothing arrives; at the end the rest get all earlier changes', async () => {
  const fanOut = new FanOut()
  const [leaves, stays] = [patient('a'), patient('a')]
  for (const { subscriber } of [leaves, stays]) fanOut.add(subscriber)
  fanOut.publish(eventOf(1, entryOf('x', 1)))
  fanOut.remove(leaves.subscriber)
  fanOut.endAll()
  await settle()
  assert.deepEqual([leaves.heard, stays.heard], [[], ['ADDED 1']])
  assert.deepEqual([leaves.subscriber.ends, stays.subscriber.ends], [0, 1])
})

test('a subscriber whose selector throws is ended, and does not affect others', async () => {
  const fanOut = new FanOut()
  const broken = patient('', () => {
    throw new Error('not today')
  })
  const fine = patient('')
  for (const { subscriber } of [broken, fine]) fanOut.add(subscriber)
  fanOut.publish(eventOf(1, entryOf('x', 1)))
  await settle()
  assert.deepEqual([broken.subscriber.ends, fine.heard], [1, ['ADDED 1']])
})
