import assert from 'node:assert/strict'
import test from 'node:test'
import { DiskPace } from './disk-pace.ts'

test('when a disk is slow', () => {
  const cases: [
    what: string,
    tookMs: number,
    writes: number,
    everyMs: number,
    times: number,
    isSlow: boolean,
  ][] = [
    ['quick', 1, 1, 0, 100, false],
    ['long once', 500, 1, 0, 1, false],
    ['long eight times', 500, 1, 0, 8, false],
    ['long again and again', 10, 1, 0, 9, true],
    ['rather long all the time', 3, 1, 0, 49, true],
    ['rather long for a while', 3, 1, 0, 48, false],
    ['long now and then', 50, 1, 600, 1000, false],
    ['long rather often', 50, 1, 100, 10, true],
    ['many that take as long as many do', 20, 100, 0, 100, false],
    ['few that take as long as many do', 20, 3, 0, 9, true],
  ]
  for (const [what, tookMs, writes, everyMs, times, isSlow] of cases) {
    let now = 1000
    const pace = new DiskPace(() => now)
    const stated = Array.from({ length: times }, () => {
      now += everyMs
      return pace.isSlowAfter(tookMs, writes)
    })
    assert.equal(stated.at(-1), isSlow, what)
    assert.ok(!stated.slice(0, -1).includes(true), what)
  }
})

test('slow writes among quick ones', () => {
  const pace = new DiskPace(() => 0)
  const stated = Array.from({ length: 100 }, (_, i) => pace.isSlowAfter(i % 5 === 0 ? 50 : 0.3, 1))
  assert.ok(!stated.includes(true))
})

test('the duration of a rest', () => {
  let now = 1000
  const pace = new DiskPace(() => now)
  assert.ok(pace.isRested())
  const took = [90, 90, 80, 80, 70, 70, 60, 60, 30]
  assert.deepEqual(
    took.map((ms) => pace.isSlowAfter(ms, 1)),
    took.map((ms) => ms === 30),
  )
  for (const [at, isRested] of [
    [1000, false],
    [2499, false],
    [2500, true],
  ] as const) {
    now = at
    assert.equal(pace.isRested(), isRested, `${at}`)
  }
  now = 2000
  const stated = Array.from({ length: 10 }, () => pace.isSlowAfter(30, 1))
  assert.ok(!stated.includes(true), 'told once while it rests')
  pace.restFor(10_000)
  now = 11_999
  assert.equal(pace.isRested(), false)
  now = 12_000
  assert.ok(pace.isRested())
})

test('after a rest one slow write starts another, and quick ones end it', () => {
  let now = 0
  const pace = new DiskPace(() => now)
  for (let i = 0; i < 9; i++) pace.isSlowAfter(400, 1)
  now = 20_000
  assert.ok(pace.isRested())
  assert.ok(pace.isSlowAfter(400, 1))
  now = 40_000
  for (let i = 0; i < 30; i++) assert.ok(!pace.isSlowAfter(0.3, 1))
  assert.ok(!pace.isSlowAfter(400, 1))
})
