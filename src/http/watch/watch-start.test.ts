import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import type { Watch } from '#verbs/watch.ts'
import { startedWithin } from './watch-start.ts'

function rig() {
  let stops = 0
  const watch = { stop: () => void stops++ } as Watch
  return { watch, stops: () => stops, starting: Promise.withResolvers<Watch | ApiError>() }
}

test('a watch that starts before its timeout is returned', async () => {
  const { watch, stops, starting } = rig()
  const begun = startedWithin(60_000, starting.promise)
  starting.resolve(watch)
  assert.equal(await begun, watch)
  assert.equal(stops(), 0)
})

test('a watch that exceeds its timeout before it starts is an error, and is stopped when it starts', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { watch, stops, starting } = rig()
  const begun = startedWithin(2000, starting.promise)
  t.mock.timers.tick(2000)
  const error = await begun
  assert.ok(error instanceof ApiError)
  assert.deepEqual(
    [error.code, error.reason, error.message],
    [500, 'InternalError', 'context deadline exceeded'],
  )
  starting.resolve(watch)
  await starting.promise
  assert.equal(stops(), 1)
})

test('the error that prevents a watch is reported', async () => {
  const { starting } = rig()
  starting.reject(new Error('no store'))
  await assert.rejects(startedWithin(60_000, starting.promise), /no store/)
})
