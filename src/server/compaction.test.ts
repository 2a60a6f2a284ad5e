import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '#storage/storage.ts'
import { compactRegularly } from './compaction.ts'

test('history older than an interval is deleted, and a failure is reported and retried', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const compacted: number[] = []
  const reported: string[] = []
  let revision = 7
  let failing = false
  const storage = {
    currentRevision: () => revision,
    async compact(upTo: number) {
      if (failing || upTo > revision) throw new Error('no')
      compacted.push(upTo)
    },
  } as unknown as Storage
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const running = compactRegularly(storage, 1000, (message) => reported.push(message))
  await settle()
  revision = 9
  t.mock.timers.tick(1000)
  await settle()
  assert.deepEqual(compacted, [7])
  failing = true
  t.mock.timers.tick(1000)
  await settle()
  assert.equal(reported.length, 1)
  failing = false
  revision = 12
  t.mock.timers.tick(1000)
  await settle()
  assert.deepEqual(compacted, [7, 9])
  // Restored from an older copy: reported once, and then compaction goes on from there.
  revision = 2
  t.mock.timers.tick(1000)
  await settle()
  assert.equal(reported.length, 2)
  revision = 4
  t.mock.timers.tick(1000)
  await settle()
  assert.deepEqual([compacted, reported.length], [[7, 9, 2], 2])
  running.stop()
})

test('an interval that is longer than any timer is waited for in parts', async (t) => {
  let compactions = 0
  const storage = {
    currentRevision: () => 7,
    compact: async () => void compactions++,
  } as unknown as Storage
  let part = () => {}
  let partMs = 0
  t.mock.method(globalThis, 'setInterval', (call: () => void, ms: number) => {
    part = call
    partMs = ms
    return { unref() {} }
  })
  const intervalMs = 30 * 24 * 3_600_000
  compactRegularly(storage, intervalMs, assert.fail)
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const after: number[] = []
  for (let i = 0; i < 4; i++) {
    await settle()
    part()
    await settle()
    after.push(compactions)
  }
  assert.deepEqual([partMs, after], [intervalMs / 2, [0, 1, 1, 2]])
})
