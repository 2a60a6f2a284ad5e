/**
 * Formats ages for tables: `45s`, `3m20s`, `5h`, `12d`. Times are RFC 3339 strings; `now` is in
 * milliseconds.
 */
import type { KubeObject } from '#api/object-meta.ts'

/** Formats a duration in milliseconds. Longer durations have less detail. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  // Clocks of machines differ a little; less than two seconds ahead is now.
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return days < 2920 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

const twoUnits = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`

const unknownTime = '<unknown>'

/** How long ago a time was. */
export const timeSince = (time: string | null | undefined, now: number): string =>
  time ? humanDuration(now - Date.parse(time)) : unknownTime

/** The age of an object. */
export const ageOf = (object: KubeObject, now: number): string =>
  timeSince(object.metadata.creationTimestamp, now)
