import assert from 'node:assert/strict'
import test from 'node:test'
import { DiskPace } from './disk-pace.ts'

test('when a disk is slow', () => {
  const cases: [what: string, tookMs: number, writes: number, times: number, isSlow: boolean][] = [
    ['quick', 1, 1, 100, false],
    ['long once', 500, 1, 1, false],
    ['long twice', 500, 1, 2, false],
    ['long again and again', 10, 1, 3, true],
    ['rather long all the time', 5, 1, 5, true],
    ['many that take as long as many do', 20, 100, 100, false],
    ['few that take as long as many do', 20, 3, 3, true],
  ]
  for (const [what, tookMs, writes, times, isSlow] of cases) {
    const pace = new DiskPace(() => 0)
    const said = Array.from({ length: times }, () => pace.isSlowAfter(tookMs, writes))
    assert.equal(said.at(-1), isSlow, what)
    assert.ok(!said.slice(0, -1).includes(true), what)
  }
})

test('how long it rests', () => {
  let now = 1000
  const pace = new DiskPace(() => now)
  assert.ok(pace.isRested())
  assert.deepEqual(
    [pace.isSlowAfter(90, 1), pace.isSlowAfter(60, 1), pace.isSlowAfter(30, 1)],
    [false, false, true],
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
  const said = Array.from({ length: 10 }, () => pace.isSlowAfter(30, 1))
  assert.ok(!said.includes(true), 'told once while it rests')
  pace.restFor(10_000)
  now = 11_999
  assert.equal(pace.isRested(), false)
  now = 12_000
  assert.ok(pace.isRested())
})
