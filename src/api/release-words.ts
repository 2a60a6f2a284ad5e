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
]
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
    : errors.map((error) => ({ ...error, message: wordsOf(error.message, release) }))
