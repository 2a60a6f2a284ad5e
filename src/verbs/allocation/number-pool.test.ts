import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NumberPool } from './number-pool.ts'

test('a number is allocated once, until it is released', () => {
  const pool = new NumberPool(5, 7, () => 0)
  const steps: [number, string][] = [
    [5, 'ok'],
    [5, 'taken'],
    [4, 'outside'],
    [8, 'outside'],
    [7, 'ok'],
  ]
  for (const [number, expected] of steps) assert.equal(pool.take(number), expected, String(number))
  assert.equal(pool.free, 1)
  pool.releaseMemory(5)
  pool.releaseMemory(5)
  pool.releaseMemory(99)
  assert.equal(pool.free, 2)
  assert.equal(pool.take(5), 'ok')
})

const chances: [chance: number, taken: number[], expected: number | undefined][] = [
  [0, [], 10],
  [0.5, [], 12],
  [0.999, [], 13],
  [0.999, [13], 10],
  [0.5, [12, 13], 10],
  [0.25, [10, 11, 12, 13], undefined],
]
for (const [chance, taken, expected] of chances) {
  test(`any of four, chance ${chance}, without [${taken}]: ${expected}`, () => {
    const pool = new NumberPool(10, 13, () => chance)
    for (const number of taken) pool.take(number)
    assert.equal(pool.takeAny(), expected)
  })
}

test('random allocation uses all numbers, none twice', () => {
  let seed = 7
  const pool = new NumberPool(1, 100, () => {
    seed = (seed * 16807) % 2147483647
    return seed / 2147483647
  })
  const seen = new Set(Array.from({ length: 100 }, () => pool.takeAny()))
  assert.equal(seen.size, 100)
  assert.equal(pool.takeAny(), undefined)
})

test('a number with several holders is free when all have released it', () => {
  const pool = new NumberPool(5, 7, () => 0)
  pool.hold(6)
  pool.hold(6)
  pool.hold(99)
  assert.deepEqual([pool.free, pool.take(6)], [2, 'taken'])
  pool.releaseMemory(6)
  assert.equal(pool.take(6), 'taken')
  pool.releaseMemory(6)
  assert.equal(pool.take(6), 'ok')
})
