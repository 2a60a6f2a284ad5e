import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { cronTimes } from './cron-times.ts'
import { dueInMs, dueTime, InvalidSchedule } from './due-time.ts'
import { expiredJobs, recordJobs } from './job-records.ts'

const at = (time: string) => `2030-01-01T${time}Z`
const cronJob = (created: string, last?: string, deadline?: number): KubeObject => ({
  metadata: { name: 'c', creationTimestamp: at(created) },
  spec: { ...(deadline !== undefined && { startingDeadlineSeconds: deadline }) },
  status: { ...(last && { lastScheduleTime: at(last) }) },
})

type Row = [
  what: string,
  KubeObject,
  now: string,
  due: string | undefined,
  flags: string,
  waits: number,
]
const rows: Row[] = [
  ['not yet', cronJob('10:00:30'), '10:02:00', undefined, '', 180.1],
  ['for the first time', cronJob('10:00:30'), '10:05:01', '10:05:00', '', 299.1],
  ['after a start', cronJob('10:00:30', '10:05:00'), '10:06:00', undefined, '', 240.1],
  ['after two missed times', cronJob('10:00:00'), '10:11:00', '10:10:00', '', 240.1],
  ['after many missed times', cronJob('00:00:00'), '20:02:00', '20:00:00', 'many', 180.1],
  ['in time', cronJob('10:00:00', undefined, 60), '10:05:30', '10:05:00', '', 270.1],
  ['too late', cronJob('10:00:00', undefined, 60), '10:07:00', undefined, '', 180.1],
]
for (const [what, object, now, due, flags, waits] of rows)
  test(`a cron job is due ${what}`, () => {
    const next = cronTimes('*/5 * * * *', 'UTC')
    const nowMs = Date.parse(at(now))
    const { scheduledMs, isTooLate, hasMissedMany } = dueTime(object, next, nowMs)
    assert.equal(scheduledMs, due === undefined ? undefined : Date.parse(at(due)))
    assert.equal(`${isTooLate ? 'late' : ''}${hasMissedMany ? 'many' : ''}`, flags)
    assert.equal(dueInMs(object, next, nowMs), waits * 1000)
  })

test('a schedule without times is invalid, and never due', () => {
  const next = cronTimes('0 0 31 2 *', 'UTC')
  const nowMs = Date.parse(at('10:00:00'))
  assert.throws(() => dueTime(cronJob('09:00:00'), next, nowMs), InvalidSchedule)
  assert.equal(dueInMs(cronJob('09:00:00'), next, nowMs), undefined)
})

const job = (name: string, condition?: string, status: Loose = {}): KubeObject => ({
  metadata: { name, uid: name },
  status: { ...status, conditions: condition ? [{ type: condition, status: 'True' }] : [] },
})
const references = (names: string[]) => names.map((name) => ({ name, uid: name }))

test('the status forgets jobs that have finished or are gone', () => {
  const jobs = [
    job('runs'),
    job('unknown'),
    job('done', 'Complete', { completionTime: at('10:00:00') }),
    job('older', 'Complete', { completionTime: at('09:00:00') }),
    job('failed', 'Failed', { completionTime: at('11:00:00') }),
  ]
  const active = references(['runs', 'done', 'failed', 'gone'])
  const { status, events } = recordJobs({ metadata: {}, status: { active } }, jobs)
  assert.deepEqual(status, { active: references(['runs']), lastSuccessfulTime: at('10:00:00') })
  assert.deepEqual(
    events.map(({ reason, message }) => [reason, message]),
    [
      ['UnexpectedJob', 'Saw a job that the controller did not create or forgot: unknown'],
      ['SawCompletedJob', 'Saw completed job: done, condition: Complete'],
      ['SawCompletedJob', 'Saw completed job: failed, condition: Failed'],
      ['MissingJob', 'Active job went missing: gone'],
    ],
  )
})

test('the oldest finished jobs beyond the limits are deleted', () => {
  const jobs = [
    job('b', 'Complete', { startTime: at('10:00:00') }),
    job('a', 'Complete', { startTime: at('11:00:00') }),
    job('never', 'Complete'),
    job('failed', 'Failed'),
    job('runs'),
  ]
  const names = (spec: Loose) =>
    expiredJobs({ metadata: {}, spec }, jobs).map(({ metadata }) => metadata.name)
  assert.deepEqual(names({}), [])
  assert.deepEqual(names({ successfulJobsHistoryLimit: 1 }), ['b', 'a'])
  assert.deepEqual(names({ successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 0 }), ['failed'])
})
