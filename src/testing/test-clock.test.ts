import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationMs, TestClock } from './test-clock.ts'

test('units of durations', () => {
  const rows: [text: number | string, ms: number][] = [
    [1500, 1500],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1.5s', 1500],
    ['20ms', 20],
  ]
  for (const [text, ms] of rows) assert.equal(durationMs(text), ms, String(text))
  for (const text of ['', '5', 'h', '1h 5m', '1x'])
    assert.throws(() => durationMs(text), /is no duration/, text)
})

test('a frozen clock stops, and moving it forward runs its timers in order at their times', async () => {
  const clock = new TestClock()
  clock.freeze('2026-01-01T00:00:00Z')
  const begin = Date.parse('2026-01-01T00:00:00Z')
  const seen: [string, number][] = []
  const see = (name: string) => () => seen.push([name, clock.now() - begin])
  clock.after(3000, see('third'))
  clock.after(1000, () => {
    see('first')()
    clock.after(500, see('second'))
  })
  const stop = clock.every(2000, see('each'))
  const cancel = clock.after(10, see('never'))
  cancel()
  await clock.advance('3s')
  assert.deepEqual(seen, [
    ['first', 1000],
    ['second', 1500],
    ['each', 2000],
    ['third', 3000],
  ])
  stop()
  await clock.advance('1h')
  assert.equal(seen.length, 4)
  assert.equal(clock.now() - begin, 3_603_000)
})

test('a clock that is not frozen runs, even after it was moved', async () => {
  const clock = new TestClock()
  const before = clock.now()
  assert.ok(Math.abs(before - Date.now()) < 1000)
  await clock.advance('1h')
  const ran = Promise.withResolvers<void>()
  clock.after(5, ran.resolve)
  await ran.promise
  assert.ok(clock.now() - before >= 3_600_000)
  clock.freeze()
  const stood = clock.now()
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(clock.now(), stood)
  clock.resume()
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(clock.now() > stood)
})
