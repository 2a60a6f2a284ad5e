import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection } from './connection.ts'
import { Leases } from './lease.ts'

/** Seconds of writes with a TTL of an hour, and the number of leases that they need. */
const rows: [sharedSecondsMax: number | undefined, writtenAt: number[], granted: number][] = [
  [undefined, [0, 59, 61], 2],
  [10, [0, 9, 11], 2],
  [0, [0, 0, 0], 3],
  // Never more than a twentieth of its TTL.
  [100_000, [0, 179, 181], 2],
]
for (const [sharedSecondsMax, writtenAt, granted] of rows)
  test(`leases shared for ${sharedSecondsMax} seconds`, async () => {
    let now = 0
    let requested = 0
    const read = async () => {
      requested++
      return Buffer.alloc(0)
    }
    const connection = { read } as unknown as Connection
    const leases = new Leases(
      connection,
      () => now * 1000,
      () => 0.5,
      sharedSecondsMax,
    )
    for (const at of writtenAt) {
      now = at
      await leases.of(3600, Number.POSITIVE_INFINITY)
    }
    assert.equal(requested, granted)
  })

test('a lease has the ID that the server returns', async () => {
  // A server that imitates etcd uses the seconds as lease ID, whatever ID was requested.
  const connection = { read: async () => Buffer.from([2 << 3, 42]) } as unknown as Connection
  const leases = new Leases(
    connection,
    () => 0,
    () => 0.5,
  )
  assert.equal(await leases.of(40, Number.POSITIVE_INFINITY), 42)
})

test('a write waits for its lease until its own deadline', async () => {
  const connection = { read: () => new Promise(() => {}) } as unknown as Connection
  const leases = new Leases(
    connection,
    () => 0,
    () => 0.5,
  )
  const early = leases.of(40, Date.now() + 5)
  await assert.rejects(early, /did not grant a lease in time/)
})
