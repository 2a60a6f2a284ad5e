import assert from 'node:assert/strict'
import test from 'node:test'
import { Freshness } from './freshness.ts'

test('a reader that waits for a revision is released when it is reached', async () => {
  const freshness = new Freshness(10)
  assert.equal(await freshness.reach(10, 0), true)
  assert.equal(await freshness.reach(3, 0), true)
  const released: number[] = []
  const waits = [13, 11, 12].map((revision) =>
    Promise.resolve(freshness.reach(revision, 10_000)).then((reached) => {
      assert.equal(reached, true)
      released.push(revision)
    }),
  )
  freshness.advance(12)
  await Promise.all(waits.slice(1))
  assert.deepEqual(released.sort(), [11, 12])
  freshness.advance(11)
  assert.equal(freshness.revision, 12, 'it never goes back')
  freshness.advance(20)
  await waits[0]
})

test('the wait has a timeout', async () => {
  const freshness = new Freshness(1)
  assert.equal(await freshness.reach(2, 5), false)
  freshness.advance(2)
  assert.equal(await freshness.reach(2, 5), true)
})

test('no reader waits for a stopping server', async () => {
  const freshness = new Freshness(1)
  const waiting = freshness.reach(2, 60_000)
  freshness.giveUp()
  assert.equal(await waiting, false)
  assert.equal(freshness.reach(2, 60_000), false, 'nor does one that comes later')
})

test('a released waiter leaves no timer behind, and a timeout does not affect others', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const freshness = new Freshness(1)
  const [soon, late] = [freshness.reach(2, 2), freshness.reach(2, 60_000)]
  assert.equal(timers(), before + 2)
  assert.equal(await soon, false)
  freshness.advance(2)
  assert.equal(await late, true)
  assert.equal(timers(), before)
})
