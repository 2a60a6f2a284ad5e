/** The words of errors as an older release had them, from those of the newest one. Nothing but words is changed. */
import type { FieldError } from '#api/field-error.ts'

/** First release with the newer words, the newer words, the older ones. */
const changes: readonly (readonly [number, string, string])[] = [
  [20, 'a lowercase RFC 1123 label must', 'a DNS-1123 label must'],
  [20, 'a lowercase RFC 1123 subdomain must', 'a DNS-1123 subdomain must'],
  [20, '(e.g. 10.9.8.7 or 2001:db8::ffff)', '(e.g. 10.9.8.7)'],
]
/** The release that counted bytes where characters were meant. */
const bytesSince = 17

export function inWordsOf(release: number, errors: readonly FieldError[]): FieldError[] {
  const older = changes.filter(([since]) => release < since)
  if (older.length === 0) return [...errors]
  return errors.map((error) => {
    let { message } = error
    for (const [, newer, former] of older) message = message.replaceAll(newer, former)
    if (release < bytesSince && error.type === 'FieldValueTooLong') {
      message = message.replace(/ bytes$/, ' characters')
    }
    return { ...error, message }
  })
}
