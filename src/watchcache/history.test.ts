import assert from 'node:assert/strict'
import test from 'node:test'
import { History } from './history.ts'
import { entryOf, eventOf } from './picture.suite.ts'

const limits = { eventsMax: 5, ageMsMax: 1000 }

function filled(count: number, startsAfter = 10, settings = limits): History {
  const history = new History(startsAfter, settings)
  for (let i = 1; i <= count; i++) {
    const revision = startsAfter + i * 2
    history.push(eventOf(revision, entryOf('x', revision), undefined, i))
  }
  return history
}

const after = (history: History, revision: number) =>
  history.after(revision)?.map((event) => event.revision)

test('all events after a revision, in order; 410 exactly if one is missing', () => {
  const cases: [count: number, requested: number, expected: number[] | undefined][] = [
    [0, 10, []],
    [0, 9, undefined],
    [0, 99, []],
    [3, 10, [12, 14, 16]],
    [3, 11, [12, 14, 16]],
    [3, 12, [14, 16]],
    [3, 13, [14, 16]],
    [3, 16, []],
    [3, 17, []],
    [3, 9, undefined],
    // Two of seven events were evicted. What follows the second is complete; what follows an
    // earlier revision is not.
    [7, 14, [16, 18, 20, 22, 24]],
    [7, 13, undefined],
    [7, 10, undefined],
  ]
  for (const [count, requested, expected] of cases) {
    assert.deepEqual(
      after(filled(count), requested),
      expected,
      `${count} events, after ${requested}`,
    )
  }
})

test('events older than the limit are evicted at the next push', () => {
  const history = new History(0, { eventsMax: 100, ageMsMax: 1000 })
  history.push(eventOf(1, entryOf('a', 1), undefined, 0))
  history.push(eventOf(2, entryOf('a', 2), undefined, 900))
  assert.deepEqual(after(history, 0), [1, 2])
  history.push(eventOf(3, entryOf('a', 3), undefined, 1000))
  assert.deepEqual(after(history, 0), [1, 2, 3])
  history.push(eventOf(4, entryOf('a', 4), undefined, 1001))
  assert.equal(after(history, 0), undefined)
  assert.deepEqual(after(history, 1), [2, 3, 4])
  assert.equal(history.startsAfter, 1)
})

test('the limit holds for long, and compacting the array loses nothing', () => {
  const history = new History(0, { eventsMax: 100, ageMsMax: 1e9 })
  for (let i = 1; i <= 5000; i++) {
    history.push(eventOf(i * 2, entryOf('x', i), undefined, i))
    assert.equal(history.after(history.startsAfter)?.length, Math.min(i, 100), `${i} pushed`)
  }
  assert.equal(history.startsAfter, 9800)
  assert.equal(after(history, 9799), undefined)
  assert.deepEqual(
    after(history, 9800),
    Array.from({ length: 100 }, (_, i) => 9802 + i * 2),
  )
})

test('a clock that jumps back evicts no recent event', () => {
  const history = new History(0, limits)
  history.push(eventOf(1, entryOf('a', 1), undefined, 50_000))
  history.push(eventOf(2, entryOf('a', 2), undefined, 10))
  assert.deepEqual(after(history, 0), [1, 2])
})

test('large objects are evicted by their bytes, small ones are not', () => {
  const sized = (revision: number, bytes: number) => {
    const entry = entryOf('x', revision)
    return { ...entry, cut: { ...entry.cut, bytes: Buffer.alloc(bytes) } }
  }
  const rows: [sizes: number[], kept: number[]][] = [
    [
      [40, 40, 20],
      [1, 2, 3],
    ],
    [
      [40, 40, 40],
      [2, 3],
    ],
    [
      [10, 10, 90],
      [2, 3],
    ],
    [[10, 101], []],
    [[101, 10], [2]],
  ]
  for (const [sizes, kept] of rows) {
    const history = new History(0, { eventsMax: 100, ageMsMax: 1e9, bytesMax: 100 })
    for (const [i, bytes] of sizes.entries()) history.push(eventOf(i + 1, sized(i + 1, bytes)))
    assert.deepEqual(after(history, history.startsAfter), kept, sizes.join())
    assert.equal(history.startsAfter, (kept[0] ?? sizes.length + 1) - 1)
  }
  // The event of a deletion keeps the deleted object.
  const history = new History(0, { eventsMax: 100, ageMsMax: 1e9, bytesMax: 100 })
  for (let i = 1; i <= 3; i++) history.push(eventOf(i, undefined, sized(i, 45)))
  assert.deepEqual(after(history, 1), [2, 3])
  assert.equal(history.startsAfter, 1)
})
