import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { rememberText } from '#api/written-text.ts'
import { goTime } from './go-time.ts'

const rows: [written: string, shown: string][] = [
  ['2020-01-02T03:04:05Z', '2020, time.January, 2, 3, 4, 5, 0'],
  ['2020-01-02T03:04:05.123456Z', '2020, time.January, 2, 3, 4, 5, 123456000'],
  ['2020-12-31T23:30:00-01:00', '2021, time.January, 1, 0, 30, 0, 0'],
]
for (const [written, shown] of rows) {
  test(`a time written ${written}`, () => {
    const taint: Loose = { timeAdded: '2020-01-02T03:04:05Z' }
    rememberText(taint, 'timeAdded', written)
    assert.equal(goTime(taint, 'timeAdded'), `time.Date(${shown}, time.Local)`)
  })
}
