/** When a cron job is due. Pure. */
import type { KubeObject } from '#api/object-meta.ts'
import type { NextTime } from './cron-times.ts'

/** Clocks differ a little. */
const paddingMs = 100
const manyMissed = 100

interface Recent {
  readonly earliestMs: number
  /** The last time that has come since then. Undefined if none has. */
  readonly recentMs: number | undefined
  readonly missed: 'none' | 'few' | 'many'
}

export class InvalidSchedule extends Error {}

export interface Due {
  /** The time for which a job is missing. Undefined if none is due. */
  readonly scheduledMs: number | undefined
  readonly isTooLate: boolean
  readonly hasMissedMany: boolean
}

/** Throws `InvalidSchedule` if the schedule has no times. */
export function dueTime(cronJob: KubeObject, next: NextTime, nowMs: number): Due {
  const deadline: number | undefined = cronJob.spec?.startingDeadlineSeconds
  const { recentMs, missed } = recentTime(cronJob, next, nowMs, true)
  return {
    scheduledMs: recentMs,
    isTooLate:
      deadline !== undefined && recentMs !== undefined && recentMs + deadline * 1000 < nowMs,
    hasMissedMany: recentMs !== undefined && missed === 'many',
  }
}

/** Milliseconds until the cron job is due again. Undefined if it never is. */
export function dueInMs(cronJob: KubeObject, next: NextTime, nowMs: number): number | undefined {
  let from = nowMs
  try {
    const { earliestMs, recentMs, missed } = recentTime(cronJob, next, nowMs, false)
    from = recentMs ?? (missed === 'none' ? earliestMs : nowMs)
  } catch (error) {
    if (!(error instanceof InvalidSchedule)) throw error
  }
  const at = next(from)
  return at === undefined ? undefined : Math.max(0, at + paddingMs - nowMs)
}

/**
 * Many times may have been missed. They are estimated from the first two, instead of walking over
 * each of them.
 */
function recentTime(
  { metadata, spec, status }: KubeObject,
  next: NextTime,
  nowMs: number,
  hasDeadline: boolean,
): Recent {
  let earliestMs = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  const deadline: number | undefined = spec?.startingDeadlineSeconds
  if (hasDeadline && deadline !== undefined)
    earliestMs = Math.max(earliestMs, nowMs - deadline * 1000)
  const first = next(earliestMs)
  const second = first === undefined ? undefined : next(first)
  if (first === undefined || second === undefined)
    throw new InvalidSchedule('time difference between two schedules is less than 1 second')
  if (nowMs < first) return { earliestMs, recentMs: undefined, missed: 'none' }
  if (nowMs < second) return { earliestMs, recentMs: first, missed: 'none' }
  const between = second - first
  const count = Math.floor((nowMs - first) / between) + 1
  let recentMs: number | undefined
  let at = next(first + (count - 2) * between)
  while (at !== undefined && at <= nowMs) {
    recentMs = at
    at = next(at)
  }
  return { earliestMs, recentMs, missed: count > manyMissed ? 'many' : 'few' }
}
