import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SortedMap } from './sorted-map.ts'

/** A small generator with a printed seed: the same seed gives the same run. */
function random(seed: number) {
  let s = seed
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0
    return s / 2 ** 32
  }
}

const range = (m: { visit: SortedMap<number>['visit'] }, start = '', end = '~') => {
  const out: [string, number][] = []
  m.visit(start, end, (v, k) => {
    out.push([k, v])
  })
  return out
}

for (const seed of [1, 2, 3]) {
  test(`behaves as a plain sorted map, snapshots never change, seed ${seed}`, () => {
    const next = random(seed)
    const map = new SortedMap<number>()
    const model = new Map<string, number>()
    const kept: { snapshot: ReturnType<typeof map.snapshot>; expected: [string, number][] }[] = []
    const sorted = () => [...model].sort(([a], [b]) => (a < b ? -1 : 1))
    for (let i = 0; i < 6000; i++) {
      const key = `k${Math.floor(next() * 900)}`
      if (next() < 0.7) {
        assert.equal(map.set(key, i), model.get(key))
        model.set(key, i)
      } else {
        assert.equal(map.delete(key), model.get(key))
        model.delete(key)
      }
      if (i % 700 === 0) kept.push({ snapshot: map.snapshot(), expected: sorted() })
    }
    assert.deepEqual(range(map), sorted())
    for (const { snapshot, expected } of kept) assert.deepEqual(range(snapshot), expected)
    const part = sorted().filter(([k]) => k >= 'k3' && k < 'k7')
    assert.deepEqual(range(map, 'k3', 'k7'), part)
    assert.equal(map.count('k3', 'k7'), part.length)
    assert.equal(map.size, model.size)
  })
}

test('an empty snapshot stays empty, and a snapshot survives emptying and refilling the map', () => {
  const map = new SortedMap<number>()
  const empty = map.snapshot()
  map.set('a', 1)
  const one = map.snapshot()
  map.delete('a')
  const again = map.snapshot()
  map.set('b', 2)
  assert.deepEqual(
    [empty, one, again, map].map((each) => range(each)),
    [[], [['a', 1]], [], [['b', 2]]],
  )
  assert.deepEqual([empty.count('', '~'), one.count('', '~')], [0, 1])
})

for (const seed of [1, 2])
  test(`forks share entries and change independently, seed ${seed}`, () => {
    const next = random(seed)
    const base = new SortedMap<number>()
    for (let i = 0; i < 500; i++) base.set(`k${Math.floor(next() * 900)}`, i)
    const before = range(base)
    const pairs = [1, 2, 3].map(() => ({ fork: base.fork(), model: new Map(before) }))
    for (let i = 0; i < 3000; i++) {
      const { fork, model } = pairs[i % 3] as (typeof pairs)[number]
      const key = `k${Math.floor(next() * 900)}`
      assert.equal(fork.get(key), model.get(key))
      if (next() < 0.6) {
        assert.equal(fork.set(key, i), model.get(key))
        model.set(key, i)
      } else {
        assert.equal(fork.delete(key), model.get(key))
        model.delete(key)
      }
      if (i % 500 === 0) fork.snapshot()
    }
    for (const { fork, model } of pairs) {
      const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
      assert.deepEqual(range(fork), sorted)
      assert.deepEqual([...fork.values()].sort(), [...model.values()].sort())
      assert.equal(fork.size, model.size)
    }
    assert.deepEqual(range(base), before)
  })
