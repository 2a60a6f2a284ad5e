import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharesField } from './priority-shares.ts'
import { releaseOf } from './releases/change.ts'

const rows: [minor: number, field: string][] = [
  [25, 'assuredConcurrencyShares'],
  [26, 'nominalConcurrencyShares'],
]

for (const [minor, field] of rows)
  test(`shares of a priority level in 1.${minor}: ${field}`, () => {
    assert.equal(sharesField(releaseOf(minor)), field)
  })
