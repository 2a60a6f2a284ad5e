/** What clocks in a time zone show at a moment. Pure. */

export interface WallTime {
  readonly month: number
  readonly day: number
  /** 0 is Sunday. */
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

const hourMs = 3_600_000

/** An empty zone is that of the process. */
export function wallTimes(zone: string): (ms: number) => WallTime {
  const offsetOf = zoneOffsets(zone)
  return (ms) => {
    const local = new Date(ms + offsetOf(ms))
    return {
      month: local.getUTCMonth() + 1,
      day: local.getUTCDate(),
      weekday: local.getUTCDay(),
      hour: local.getUTCHours(),
      minute: local.getUTCMinutes(),
    }
  }
}

/** Milliseconds that a zone is ahead of UTC. Offsets change at full hours of UTC, or at halves. */
function zoneOffsets(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...(zone !== '' && { timeZone: zone }),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  let known: { from: number; offset: number } | undefined
  return (ms) => {
    const from = Math.floor(ms / (hourMs / 2)) * (hourMs / 2)
    if (known?.from === from) return known.offset
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(from)) part[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part
    const offset = Date.UTC(year, month - 1, day, hour, minute) - from
    known = { from, offset }
    return offset
  }
}

/** In the format of RFC 3339: `2030-01-01T06:30:00+01:00`. */
export function timeInZone(ms: number, zone: string): string {
  const offset = zoneOffsets(zone)(ms)
  const text = new Date(ms + offset).toISOString().slice(0, 19)
  if (offset === 0) return `${text}Z`
  const minutes = Math.abs(offset) / 60_000
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0')
  return `${text}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}
