import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpiringCache } from './expiring-cache.ts'

const rows: [what: string, jumpMs: number, passMs: number, found: 'yes' | undefined][] = [
  ['before its time', 0, 999, 'yes'],
  ['after its time', 0, 1000, undefined],
  ['after its time, with the clock set back', -3_600_000, 1000, undefined],
  ['before its time, with the clock set ahead', 3_600_000, 999, 'yes'],
]
for (const [what, jumpMs, passMs, found] of rows)
  test(what, () => {
    let now = 5_000_000
    let elapsed = 0
    const cache = new ExpiringCache<'yes'>(10, { now: () => now, elapsed: () => elapsed })
    cache.set('a', 'yes', 1000)
    now += jumpMs
    elapsed += passMs
    assert.equal(cache.get('a'), found)
  })
