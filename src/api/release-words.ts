/**
 * Messages in the words of an older release, where they changed. Rules are written in the newest words; this is the one
 * place that knows the others. Nothing here decides whether something is wrong.
 */
import type { FieldError } from './field-error.ts'

interface Change {
  /** The first release with the new words. */
  readonly since: number
  readonly now: string
  readonly before: string
}

const changes: readonly Change[] = [
  { since: 20, now: 'a lowercase RFC 1123 label must', before: 'a DNS-1123 label must' },
  { since: 20, now: 'a lowercase RFC 1123 subdomain must', before: 'a DNS-1123 subdomain must' },
  { since: 20, now: '(e.g. 10.9.8.7 or 2001:db8::ffff)', before: '(e.g. 10.9.8.7)' },
]
/** Before this release, a length in bytes was told as one in characters. */
const bytesSince = 17
const newest = Math.max(...changes.map(({ since }) => since))

export function wordsOf(message: string, release: number): string {
  if (release >= newest) return message
  let words = message
  for (const { since, now, before } of changes) {
    if (release < since) words = words.replaceAll(now, before)
  }
  return words
}

/** The errors as a release would tell them. */
export const inWordsOf = (errors: FieldError[], release: number): FieldError[] =>
  release >= newest
    ? errors
    : errors.map((error) => ({ ...error, message: messageOf(error, release) }))

function messageOf({ type, message }: FieldError, release: number): string {
  const words = wordsOf(message, release)
  const counted = type === 'FieldValueTooLong' && release < bytesSince
  return counted ? words.replace(/ bytes$/, ' characters') : words
}
