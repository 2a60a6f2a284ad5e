import assert from 'node:assert/strict'
import test from 'node:test'
import { after } from './awaitable.ts'

test('what is there is used at once, what is not once it is', async () => {
  assert.equal(
    after(1, (n) => n + 1),
    2,
  )
  const later = after(Promise.resolve(1), (n) => n + 1)
  assert.ok(later instanceof Promise)
  assert.equal(await later, 2)
})

test('failures come the way the value comes', async () => {
  const fail = () => {
    throw new Error('no')
  }
  assert.throws(() => after(1, fail), /no/)
  await assert.rejects(after(Promise.resolve(1), fail) as Promise<never>, /no/)
})
