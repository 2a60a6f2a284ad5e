import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { requestedTimeout } from './requested-timeout.ts'

const newer = 'request did not complete within the allotted timeout'
const refused = '400 invalid timeout specified in the request URL - time: '
const rows: [query: string, isWrite: boolean, release: number, expected: unknown][] = [
  ['', true, 22, undefined],
  ['timeout=', true, 22, undefined],
  ['timeout=5s', true, 22, [5000, newer]],
  ['timeout=5s', false, 22, [5000, newer]],
  ['timeout=1m', true, 22, undefined],
  ['timeout=59.5s', true, 22, [59_500, newer]],
  ['timeout=0s', true, 22, undefined],
  ['timeout=-1s', true, 22, undefined],
  ['timeout=1s&timeout=x', true, 22, [1000, newer]],
  ['timeout=x', true, 22, `${refused}invalid duration "x"`],
  ['timeout=1', true, 22, `${refused}missing unit in duration "1"`],
  ['timeout=1w', false, 21, `${refused}unknown unit "w" in duration "1w"`],
  ['timeout=x', true, 20, undefined],
  ['timeout=5s', false, 20, undefined],
  ['timeout=5s', true, 20, [5000, 'request did not complete within requested timeout 5s']],
]
for (const [query, isWrite, release, expected] of rows) {
  test(`${isWrite ? 'a write' : 'a read'} of 1.${release} with '${query}'`, () => {
    const ask = () => {
      try {
        const requested = requestedTimeout(new URLSearchParams(query), isWrite, 60_000, release)
        return requested && [requested.timeoutMs, requested.words]
      } catch (error) {
        return error instanceof ApiError ? `${error.code} ${error.message}` : error
      }
    }
    assert.deepEqual(ask(), expected)
  })
}
