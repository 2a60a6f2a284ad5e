/**
 * Times as Go's `%#v` prints them in messages: with the fraction they were written with, in the
 * server's zone.
 */
import type { Loose } from '#api/object-meta.ts'
import { type Instant, parseTimestamp } from '#api/timestamp.ts'
import { textWritten } from '#api/written-text.ts'

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

export function goTime(holder: Loose, field: string): string {
  const text = textWritten(holder, field) ?? (holder[field] as string)
  const { seconds, nanos } = parseTimestamp(text) as Instant
  const date = new Date(seconds * 1000)
  const parts = [
    date.getUTCFullYear(),
    `time.${months[date.getUTCMonth()]}`,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    nanos,
    'time.Local',
  ]
  return `time.Date(${parts.join(', ')})`
}
