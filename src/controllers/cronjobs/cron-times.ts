/**
 * The times of a cron schedule. Pure, and for schedules that validation has accepted.
 *
 * Example: `30 6-16/4 * * 1-5` in Europe/Berlin means 6:30, 10:30 and 14:30 there, on weekdays.
 */
import { parseDuration } from '#api/duration.ts'
import { scheduleFields } from '#kinds/batch/cron-job/cron-schedule.ts'
import { type WallTime, wallTimes } from './wall-time.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** A schedule without a time in so many years has none. */
const searchYears = 5

const words: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** The first time of a schedule after a given one. Undefined if there is none. */
export type NextTime = (afterMs: number) => number | undefined

interface Field {
  readonly values: ReadonlySet<number>
  readonly isAny: boolean
}

/** A zone in the schedule itself comes before `zone`. */
export function cronTimes(text: string, zone: string): NextTime {
  const [, ownZone, rest] = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/.exec(text) ?? []
  const schedule = (rest ?? text).trim()
  if (schedule.startsWith('@every ')) {
    const nanos = parseDuration(schedule.slice('@every '.length)) ?? 0n
    const seconds = Math.max(1, Number(nanos / 1_000_000_000n))
    return (afterMs) => Math.floor(afterMs / 1000 + seconds) * 1000
  }
  const wallOf = wallTimes(ownZone ?? zone)
  const [minute, hour, day, month, weekday] = scheduleFields(words[schedule] ?? schedule) as [
    Field,
    Field,
    Field,
    Field,
    Field,
  ]
  const isDay = (time: WallTime): boolean => {
    if (!month.values.has(time.month)) return false
    const [byDay, byWeekday] = [day.values.has(time.day), weekday.values.has(time.weekday)]
    return day.isAny || weekday.isAny ? byDay && byWeekday : byDay || byWeekday
  }
  return (afterMs) => {
    let at = Math.floor(afterMs / minuteMs + 1) * minuteMs
    for (const end = at + searchYears * 366 * 24 * hourMs; at < end; ) {
      const time = wallOf(at)
      if (!isDay(time)) at = nextMidnight(at, time, wallOf)
      else if (!hour.values.has(time.hour)) at += hourMs - time.minute * minuteMs
      else if (!minute.values.has(time.minute)) at += minuteMs
      else return at
    }
    return undefined
  }
}

/** Days have 23 or 25 hours when clocks are changed. */
function nextMidnight(at: number, time: WallTime, wallOf: (ms: number) => WallTime): number {
  const next = at + (24 - time.hour) * hourMs - time.minute * minuteMs
  const { hour } = wallOf(next)
  return hour > 12 ? next + (24 - hour) * hourMs : next - hour * hourMs
}
