import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  canonicalMicroTimestamp,
  canonicalTimestamp,
  formatTimestamp,
  parseTimestamp,
  zeroTimeSeconds,
} from './timestamp.ts'

const cases: [string, string | null | undefined][] = [
  ['2021-08-04T18:00:00Z', '2021-08-04T18:00:00Z'],
  ['2021-08-04T18:00:00.999999999Z', '2021-08-04T18:00:00Z'],
  ['2021-08-04T18:00:00+02:00', '2021-08-04T16:00:00Z'],
  ['2021-01-01T00:30:00+01:00', '2020-12-31T23:30:00Z'],
  ['2021-08-04T18:00:00-07:30', '2021-08-05T01:30:00Z'],
  ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00Z'],
  ['2021-8-04T18:00:00Z', undefined],
  ['2021-08-04T1:02:03Z', '2021-08-04T01:02:03Z'],
  ['0001-01-01T00:00:00Z', null],
  ['0001-01-01T00:00:00.5Z', null],
  ['0000-03-01T00:00:00Z', '0000-03-01T00:00:00Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['2021-02-29T00:00:00Z', undefined],
  ['2021-13-01T00:00:00Z', undefined],
  ['2021-00-01T00:00:00Z', undefined],
  ['2021-08-04T24:00:00Z', undefined],
  ['2021-08-04T18:00:60Z', undefined],
  ['2021-08-04t18:00:00Z', undefined],
  ['2021-08-04 18:00:00Z', undefined],
  ['2021-08-04T18:00:00', undefined],
  ['2021-08-04T18:00:00z', undefined],
  ['2021-08-04', undefined],
  ['', undefined],
]
for (const [text, expected] of cases) {
  test(`time ${text}`, () => assert.equal(canonicalTimestamp(text), expected))
}

const micro: [string, string | null | undefined][] = [
  ['2021-08-04T18:00:00.123456Z', '2021-08-04T18:00:00.123456Z'],
  ['2021-08-04T20:00:00.000001+02:00', '2021-08-04T18:00:00.000001Z'],
  ['0001-01-01T00:00:00.000000Z', null],
  ['2021-08-04T18:00:00Z', undefined],
  ['2021-08-04T18:00:00.123Z', undefined],
  ['2021-08-04T18:00:00.1234567Z', undefined],
]
for (const [text, expected] of micro) {
  test(`micro time ${text}`, () => assert.equal(canonicalMicroTimestamp(text), expected))
}

test('agrees with Date over four centuries', () => {
  for (let seconds = -6e9; seconds < 7e9; seconds += 86_399 * 977 + 1) {
    const text = new Date(seconds * 1000).toISOString().replace('.000', '')
    assert.equal(formatTimestamp(seconds), text)
    assert.deepEqual(parseTimestamp(text), { seconds, nanos: 0 })
  }
})

test('the zero time', () => {
  assert.equal(formatTimestamp(zeroTimeSeconds), '0001-01-01T00:00:00Z')
})
