/** Evaluations that share a budget: after it is used up, none does counted work. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CostExceeded } from './frame.ts'
import { SharedWork, withWork, work } from './work.ts'

/** How many of the evaluations with this much work end, of at most 100. */
function endsWithin(shared: SharedWork, amount: number): number {
  for (let count = 0; count < 100; count += 1) {
    try {
      shared.run(() => withWork(() => work(amount)))
    } catch (error) {
      assert.ok(error instanceof CostExceeded)
      return count
    }
  }
  return 100
}

const rows: readonly (readonly [work: number, ends: number])[] = [
  [400_000_000, 0],
  [250_000_000, 2],
  [100_000_000, 5],
  [1_000_000, 100],
]

test('evaluations that share a budget end together', () => {
  for (const [amount, ends] of rows)
    assert.equal(endsWithin(new SharedWork(), amount), ends, String(amount))
})

test('another budget is whole, and so is an evaluation without one', () => {
  const spent = new SharedWork()
  endsWithin(spent, 100_000_000)
  assert.equal(endsWithin(spent, 1), 0)
  assert.equal(endsWithin(new SharedWork(), 100_000_000), 5)
  withWork(() => work(200_000_000))
})
