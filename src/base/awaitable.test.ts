import assert from 'node:assert/strict'
import test from 'node:test'
import { after } from './awaitable.ts'

test('a present value is used at once, a promise when it resolves', async () => {
  assert.equal(
    after(1, (n) => n + 1),
    2,
  )
  const later = after(Promise.resolve(1), (n) => n + 1)
  assert.ok(later instanceof Promise)
  assert.equal(await later, 2)
})

test('errors are thrown or reject, as the value would be returned', async () => {
  const fail = () => {
    throw new Error('no')
  }
  assert.throws(() => after(1, fail), /no/)
  await assert.rejects(after(Promise.resolve(1), fail) as Promise<never>, /no/)
})
