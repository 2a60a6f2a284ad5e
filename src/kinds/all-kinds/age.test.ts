import assert from 'node:assert/strict'
import { test } from 'node:test'
import { humanDuration, timeSince } from './age.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const cases: [number, string][] = [
  [-2 * second, '<invalid>'],
  [-1 * second, '0s'],
  [-1, '0s'],
  [0, '0s'],
  [119 * second, '119s'],
  [120 * second, '2m'],
  [9 * minute + 59 * second, '9m59s'],
  [10 * minute + 5 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 59 * minute, '7h59m'],
  [8 * hour + 30 * minute, '8h'],
  [47 * hour, '47h'],
  [48 * hour, '2d'],
  [7 * day + 23 * hour, '7d23h'],
  [8 * day + 3 * hour, '8d'],
  [729 * day, '729d'],
  [730 * day, '2y'],
  [800 * day, '2y70d'],
  [3000 * day, '8y'],
]
for (const [milliseconds, shown] of cases) {
  test(`${milliseconds} ms is ${shown}`, () => assert.equal(humanDuration(milliseconds), shown))
}

test('times', () => {
  const now = Date.parse('2021-01-01T00:01:00Z')
  assert.equal(timeSince('2021-01-01T00:00:00Z', now), '60s')
  assert.equal(timeSince(null, now), '<unknown>')
})
