/** Durations: what Go accepts and prints, and what it does not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration, parseDuration } from './duration.ts'

const cases: [text: string, ms: number | undefined, printed?: string][] = [
  ['0', 0, '0s'],
  ['60s', 60_000, '1m0s'],
  ['1h', 3_600_000, '1h0m0s'],
  ['1h30m', 5_400_000, '1h30m0s'],
  ['1.5h', 5_400_000, '1h30m0s'],
  ['500ms', 500, '500ms'],
  ['1m0.5s', 60_500, '1m0.5s'],
  ['100us', 0.1],
  ['-5s', -5000, '-5s'],
  ['+5s', 5000, '5s'],
  ['.5s', 500, '500ms'],
  ['5', undefined],
  ['', undefined],
  ['s', undefined],
  ['5 s', undefined],
  ['1d', undefined],
  ['5s\n', undefined],
  ['--5s', undefined],
]
for (const [text, ms, printed] of cases)
  test(`duration ${JSON.stringify(text)}`, () => {
    assert.equal(parseDuration(text), ms)
    if (printed !== undefined) assert.equal(formatDuration(ms as number), printed)
  })
