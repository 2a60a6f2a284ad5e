/**
 * Times in the format of the API: RFC 3339 in UTC with whole seconds (`2021-08-04T18:00:00Z`), or
 * six decimals for MicroTime. Parsing accepts any time zone and follows Go's rules. These functions
 * never read the clock.
 */

/** A time: seconds since 1970, which may be negative, and nanoseconds within the second. */
export interface Instant {
  readonly seconds: number
  readonly nanos: number
}

/** Go's zero time, 0001-01-01T00:00:00Z, which JSON shows as null. */
export const zeroTimeSeconds = -62135596800

const secondsPerDay = 86400
const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/
const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const before = year - 1
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400)
  const inYear = daysBeforeMonth[month - 1] + (month > 2 && isLeap(year) ? 1 : 0) + day - 1
  return before * 365 + leapDays + inYear - 719162
}

/** Parses a time. Returns undefined if the text is not a valid time. */
export function parseTimestamp(text: string): Instant | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])]
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const offset = match[8] === undefined ? 0 : Number(match[9]) * 3600 + Number(match[10]) * 60
  const local =
    daysSinceEpoch(year, month, day) * secondsPerDay + hour * 3600 + minute * 60 + second
  const nanos = match[7] === undefined ? 0 : Number(match[7].slice(1, 10).padEnd(9, '0'))
  return { seconds: match[8] === '-' ? local + offset : local - offset, nanos }
}

/** Parses to milliseconds since 1970, to compare with the clock; NaN if the text is not a time. */
export function timestampMs(text: string): number {
  const instant = parseTimestamp(text)
  return instant === undefined ? Number.NaN : instant.seconds * 1000 + instant.nanos / 1e6
}

/** Parses a MicroTime, which must have exactly six decimals. */
function parseMicroTimestamp(text: string): Instant | undefined {
  return /T\d{1,2}:\d\d:\d\d\.\d{6}(?!\d)/.test(text) ? parseTimestamp(text) : undefined
}

const isZeroTime = (instant: Instant): boolean =>
  instant.seconds === zeroTimeSeconds && instant.nanos === 0

const two = (value: number) => (value < 10 ? `0${value}` : `${value}`)

function yearText(year: number): string {
  if (year < 0) return `-${String(-year).padStart(4, '0')}`
  return String(year).padStart(4, '0')
}

/** `2021-08-04T18:00:00`, without the zone. */
function formatToSeconds(seconds: number): string {
  const days = Math.floor(seconds / secondsPerDay)
  const rest = seconds - days * secondsPerDay
  // Computes the Gregorian date from a day count. Years begin in March, so that the leap day is the
  // last day.
  const shifted = days + 719468
  const era = Math.floor(shifted / 146097)
  const dayOfEra = shifted - era * 146097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36524) -
      Math.floor(dayOfEra / 146096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const hour = Math.floor(rest / 3600)
  const minute = Math.floor((rest % 3600) / 60)
  return `${yearText(year)}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(rest % 60)}`
}

/** Formats whole seconds since 1970 for the API. */
export const formatTimestamp = (seconds: number): string => `${formatToSeconds(seconds)}Z`

export const formatMicroTimestamp = (instant: Instant): string =>
  `${formatToSeconds(instant.seconds)}.${String(Math.floor(instant.nanos / 1000)).padStart(6, '0')}Z`

const digitAt = (text: string, at: number) => {
  const digit = text.charCodeAt(at) - 48
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}
const pairAt = (text: string, at: number) => digitAt(text, at) * 10 + digitAt(text, at + 1)

/** Whether a text is canonical already. Nearly all timestamps are, so this check avoids parsing. */
function isCanonical(text: string): boolean {
  if (text.length !== 20 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T') return false
  if (text[13] !== ':' || text[16] !== ':' || text[19] !== 'Z') return false
  const year = pairAt(text, 0) * 100 + pairAt(text, 2)
  const month = pairAt(text, 5)
  const day = pairAt(text, 8)
  const inYear =
    year > 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  return inYear && pairAt(text, 11) <= 23 && pairAt(text, 14) <= 59 && pairAt(text, 17) <= 59
}

/**
 * Normalises a time to the API's format. Returns null for the zero time, and undefined if the text
 * is not a valid time.
 */
export function canonicalTimestamp(text: string): string | null | undefined {
  if (isCanonical(text)) return text
  const instant = parseTimestamp(text)
  if (instant === undefined) return undefined
  if (instant.seconds === zeroTimeSeconds) return null
  return formatTimestamp(instant.seconds)
}

export function canonicalMicroTimestamp(text: string): string | null | undefined {
  const instant = parseMicroTimestamp(text)
  if (instant === undefined) return undefined
  if (isZeroTime(instant)) return null
  return formatMicroTimestamp(instant)
}
