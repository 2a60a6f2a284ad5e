import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduleProblem } from './cron-schedule.ts'

const good = [
  '* * * * *',
  '*/5 0 1,15 * 1-5',
  '0 0 * jan sun',
  '5/10 * * * *',
  '@daily',
  '@every 1h30m',
]
good.push(
  'TZ=Europe/Berlin 0 0 * * *',
  'CRON_TZ=US/Eastern 0 0 * * *',
  'TZ=EST 0 0 * * *',
  ', * * * *',
  '? * * * *',
)
for (const text of good)
  test(`schedule ${text}`, () => assert.equal(scheduleProblem(text, 22), undefined))

const bad: [string, string][] = [
  ['often', 'expected exactly 5 fields, found 1: [often]'],
  ['61 * * * *', 'end of range (61) above maximum (59): 61'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/1/2 * * * *', 'too many slashes: */1/2'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
  ['@every 5x', 'failed to parse duration @every 5x: time: unknown unit "x" in duration "5x"'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  [
    'TZ=europe/berlin * * * * *',
    'provided bad location europe/berlin: unknown time zone europe/berlin',
  ],
  [
    'TZ=EUROPE/Berlin * * * * *',
    'provided bad location EUROPE/Berlin: unknown time zone EUROPE/Berlin',
  ],
  ['TZ=+01:00 * * * * *', 'provided bad location +01:00: unknown time zone +01:00'],
  ['TZ=utc * * * * *', 'provided bad location utc: unknown time zone utc'],
  ['TZ=../x * * * * *', 'provided bad location ../x: time: invalid location name'],
  ['TZ=Nowhere * * * * *', 'provided bad location Nowhere: unknown time zone Nowhere'],
]
for (const [text, problem] of bad) {
  test(`schedule ${text} is refused`, () => assert.equal(scheduleProblem(text, 22), problem))
}

test('before 1.22 the messages differ, and there are no time zones', () => {
  assert.equal(scheduleProblem('often', 21), 'Expected exactly 5 fields, found 1: often')
  assert.match(scheduleProblem('TZ=UTC * * * * *', 21) ?? '', /^Expected exactly 5 fields, found 6/)
})
