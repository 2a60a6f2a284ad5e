/**
 * Timestamps and durations of CEL: their texts as Go reads and writes them, and the fields of a
 * time in a zone. Zones are those of the IANA database as Intl knows them, or an offset such as
 * `-08:00`.
 */
import { parseTimestamp } from '#api/timestamp.ts'
import { isTimestampInRange, timestampOverflow } from './arithmetic.ts'
import { CelError, type Duration, Timestamp } from './values.ts'

const zone = /(?:Z|([+-])(\d\d):(\d\d))$/

/** RFC 3339 with any offset; undefined if the text is no time. */
export function readTimestamp(text: string): Timestamp | CelError | undefined {
  const instant = parseTimestamp(text)
  const match = zone.exec(text)
  if (instant === undefined || match === null) return undefined
  if (!isTimestampInRange(instant.seconds)) return timestampOverflow
  const size = match[1] === undefined ? 0 : Number(match[2]) * 3600 + Number(match[3]) * 60
  return new Timestamp(instant.seconds, instant.nanos, match[1] === '-' ? -size : size)
}

const two = (value: number): string => String(value).padStart(2, '0')

const dateOf = (seconds: number): Date => new Date(seconds * 1000)

const fractionOf = (nanos: number): string =>
  nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`

/** `2021-02-03T04:05:06.5+02:00`, in the zone that the timestamp was written in. */
export function formatTimestamp({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const local = dateOf(seconds + offsetSeconds)
    .toISOString()
    .slice(0, 19)
  if (offsetSeconds === 0) return `${local}${fractionOf(nanos)}Z`
  const size = Math.abs(offsetSeconds)
  const sign = offsetSeconds < 0 ? '-' : '+'
  const offset = `${sign}${two(Math.floor(size / 3600))}:${two(Math.floor(size / 60) % 60)}`
  return `${local}${fractionOf(nanos)}${offset}`
}

/** `2021-02-03 04:05:06 +0000 UTC`, as Go's `%v` shows a time. */
export function showTimestamp({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const local = dateOf(seconds + offsetSeconds)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ')
  if (offsetSeconds === 0) return `${local}${fractionOf(nanos)} +0000 UTC`
  const size = Math.abs(offsetSeconds)
  const sign = offsetSeconds < 0 ? '-' : '+'
  const offset = `${sign}${two(Math.floor(size / 3600))}${two(Math.floor(size / 60) % 60)}`
  return `${local}${fractionOf(nanos)} ${offset} ${offset}`
}

/**
 * Seconds with as many decimals as needed: `90s`, `0.25s`. Go goes through a double, and so does
 * this.
 */
export function durationText({ nanos }: Duration): string {
  const whole = nanos / 1_000_000_000n
  const seconds = Number(whole) + Number(nanos % 1_000_000_000n) / 1e9
  return `${decimal(seconds)}s`
}

/** A double without an exponent, in the fewest digits that give it back. */
export function decimal(value: number): string {
  const text = String(value)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (match === null) return Object.is(value, -0) ? '-0' : text
  const [, sign, first, rest = '', exponentText] = match as unknown as string[]
  const exponent = Number(exponentText)
  const digits = `${first}${rest}`
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  return sign + digits.padEnd(exponent + 1, '0')
}

/**
 * A timestamp's fields by the names of CEL's functions. All but the year, the date and the times
 * count from 0.
 */
const fields = {
  getFullYear: (date: Date) => date.getUTCFullYear(),
  getMonth: (date: Date) => date.getUTCMonth(),
  getDayOfYear: (date: Date) =>
    Math.floor((date.getTime() - startOfYear(date.getUTCFullYear())) / 86_400_000),
  getDate: (date: Date) => date.getUTCDate(),
  getDayOfMonth: (date: Date) => date.getUTCDate() - 1,
  getDayOfWeek: (date: Date) => date.getUTCDay(),
  getHours: (date: Date) => date.getUTCHours(),
  getMinutes: (date: Date) => date.getUTCMinutes(),
  getSeconds: (date: Date) => date.getUTCSeconds(),
} as const

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
const startOfYear = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1)

export type TimestampField = keyof typeof fields | 'getMilliseconds'

export function timestampField(
  field: TimestampField,
  time: Timestamp,
  zoneName: string,
): bigint | CelError {
  if (field === 'getMilliseconds') {
    const offset = offsetAt(zoneName, time)
    return typeof offset === 'number' ? BigInt(Math.floor(time.nanos / 1e6)) : offset
  }
  const offset = offsetAt(zoneName, time)
  if (typeof offset !== 'number') return offset
  return BigInt(fields[field](dateOf(time.seconds + offset)))
}

/** Seconds east of UTC in a zone at a time, or an error with Go's text. */
function offsetAt(zoneName: string, time: Timestamp): number | CelError {
  if (zoneName === '' || zoneName === 'UTC') return 0
  const colon = zoneName.indexOf(':')
  if (colon < 0) return namedOffset(zoneName, time)
  const hours = wholeNumber(zoneName.slice(0, colon))
  if (typeof hours !== 'number') return hours
  const minutes = wholeNumber(zoneName.slice(colon + 1))
  if (typeof minutes !== 'number') return minutes
  return (zoneName.startsWith('-') ? hours * 60 - minutes : hours * 60 + minutes) * 60
}

function wholeNumber(text: string): number | CelError {
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text)
  return new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
}

/** More zones than an expression names; the formats are costly to make. */
const keptFormatsMax = 64
const formats = new Map<string, Intl.DateTimeFormat | undefined>()

function formatOf(zoneName: string): Intl.DateTimeFormat | undefined {
  if (formats.has(zoneName)) return formats.get(zoneName)
  if (formats.size >= keptFormatsMax) formats.clear()
  const format = makeFormat(zoneName)
  formats.set(zoneName, format)
  return format
}

/** Go's zones are files, so their names have upper and lower case as the database has them. */
const zoneNames = /^[A-Z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/

function makeFormat(zoneName: string): Intl.DateTimeFormat | undefined {
  if (!zoneNames.test(zoneName)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zoneName,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

function namedOffset(zoneName: string, time: Timestamp): number | CelError {
  const format = formatOf(zoneName)
  if (format === undefined) return new CelError(`unknown time zone ${zoneName}`)
  const parts: Record<string, string> = {}
  for (const { type, value } of format.formatToParts(time.seconds * 1000)) parts[type] = value
  const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year'])
  const local = new Date(0)
  local.setUTCFullYear(year, Number(parts['month']) - 1, Number(parts['day']))
  local.setUTCHours(Number(parts['hour']), Number(parts['minute']), Number(parts['second']))
  return local.getTime() / 1000 - time.seconds
}
