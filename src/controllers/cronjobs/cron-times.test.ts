import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronTimes } from './cron-times.ts'
import { timeInZone } from './wall-time.ts'

const rows: [schedule: string, zone: string, after: string, next: string | undefined][] = [
  ['* * * * *', 'UTC', '2030-01-01T00:00:00Z', '2030-01-01T00:01:00Z'],
  ['* * * * *', 'UTC', '2030-01-01T00:00:59Z', '2030-01-01T00:01:00Z'],
  ['*/15 * * * *', 'UTC', '2030-01-01T00:46:00Z', '2030-01-01T01:00:00Z'],
  ['30 6-16/4 * * 1-5', 'UTC', '2030-01-04T14:30:00Z', '2030-01-07T06:30:00Z'],
  ['0 0 31 * *', 'UTC', '2030-02-01T00:00:00Z', '2030-03-31T00:00:00Z'],
  ['0 0 29 feb *', 'UTC', '2029-01-01T00:00:00Z', '2032-02-29T00:00:00Z'],
  ['0 0 31 2 *', 'UTC', '2030-01-01T00:00:00Z', undefined],
  // A day of the month or a weekday, where both are limited; otherwise both must match.
  ['0 0 13 * 5', 'UTC', '2030-01-05T00:00:00Z', '2030-01-11T00:00:00Z'],
  ['0 0 * * 5', 'UTC', '2030-01-05T00:00:00Z', '2030-01-11T00:00:00Z'],
  ['0 0 */2 * 5', 'UTC', '2030-01-05T00:00:00Z', '2030-01-07T00:00:00Z'],
  ['@yearly', 'UTC', '2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'],
  ['@hourly', 'UTC', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'],
  ['@every 90s', 'UTC', '2030-01-01T00:00:10Z', '2030-01-01T00:01:40Z'],
  ['0 6 * * *', 'Asia/Kolkata', '2030-01-01T00:00:00Z', '2030-01-01T00:30:00Z'],
  ['TZ=Asia/Kolkata 0 6 * * *', 'UTC', '2030-01-01T00:00:00Z', '2030-01-01T00:30:00Z'],
  // Clocks in Berlin have no 2:30 on this day, then they have it twice.
  ['30 2 * * *', 'Europe/Berlin', '2030-03-30T12:00:00Z', '2030-04-01T00:30:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2030-10-27T00:00:00Z', '2030-10-27T00:30:00Z'],
  ['0 0 * * *', 'Europe/Berlin', '2030-03-30T23:00:00Z', '2030-03-31T22:00:00Z'],
]
for (const [schedule, zone, after, next] of rows)
  test(`${schedule} in ${zone} after ${after}`, () => {
    const found = cronTimes(schedule, zone)(Date.parse(after))
    assert.equal(found, next === undefined ? undefined : Date.parse(next))
  })

const times: [time: string, zone: string, text: string][] = [
  ['2030-01-01T00:00:00Z', 'UTC', '2030-01-01T00:00:00Z'],
  ['2030-07-01T00:00:00Z', 'Europe/Berlin', '2030-07-01T02:00:00+02:00'],
  ['2030-01-01T00:00:00Z', 'America/St_Johns', '2029-12-31T20:30:00-03:30'],
]
for (const [time, zone, text] of times)
  test(`${time} in ${zone}`, () => assert.equal(timeInZone(Date.parse(time), zone), text))
