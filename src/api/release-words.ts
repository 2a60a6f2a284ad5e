/**
 * Messages in the words of an older release, where they changed. Rules are written in the newest words; this is the one
 * place that knows the others. Nothing here decides whether something is wrong.
 */
import { type FieldError, messageWithJson } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { dotsWords } from './names.ts'
import { change, releaseOf } from './releases/change.ts'

const errorsShowJson = change('field errors show structured values as JSON', { since: 34 })

interface Change {
  /** The first release with the new words. */
  readonly since: number
  readonly now: string
  readonly before: string
}

const changes: readonly Change[] = [
  { since: 35, now: 'a valid label key must', before: 'a qualified name must' },
  { since: 35, now: 'be no more than 63 bytes', before: 'be no more than 63 characters' },
  { since: 27, ...dotsWords },
  { since: 20, now: 'a lowercase RFC 1123 label must', before: 'a DNS-1123 label must' },
  { since: 20, now: 'a lowercase RFC 1123 subdomain must', before: 'a DNS-1123 subdomain must' },
  { since: 22, now: '(127.0.0.0/8, ::1/128)', before: '(127.0.0.0/8)' },
  { since: 22, now: '(169.254.0.0/16, fe80::/10)', before: '(169.254.0.0/16)' },
  { since: 22, now: '(224.0.0.0/24, ff02::/10)', before: '(224.0.0.0/24)' },
  { since: 22, now: 'may not be unspecified (::)', before: 'may not be unspecified (0.0.0.0)' },
  {
    since: 22,
    now: 'expected: in, notin, =, ==, !=, gt, lt',
    before: "expected: '=', '!=', '==', 'in', notin'",
  },
  {
    since: 21,
    now: "'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
    before:
      "'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort",
  },
  { since: 20, now: '(e.g. 10.9.8.7 or 2001:db8::ffff)', before: '(e.g. 10.9.8.7)' },
]
/** Before this release, a length in bytes was told as one in characters. */
const bytesSince = 17
/** The release from which on all words are the newest ones. */
export const newestWords = Math.max(...changes.map(({ since }) => since))

export function wordsOf(message: string, release: number): string {
  if (release >= newestWords) return message
  let words = message
  for (const { since, now, before } of changes) {
    if (release < since) words = words.replaceAll(now, before)
  }
  return words
}

/** The first release that tells where in a selector something is wrong. */
const selectorPathsSince = 21

/** What is wrong with a label selector. The older releases tell the first fault only. */
export function selectorWords(message: string, release: number): string {
  const words = wordsOf(message, release)
  if (release >= selectorPathsSince) return words
  return words
    .replace(/<nil>: Invalid value: ("(?:[^"\\]|\\.)*"): /, 'invalid label key $1: ')
    .replace(
      /\[?values\[\d+\]\[([^\]]*)\]: Invalid value: ("(?:[^"\\]|\\.)*"): (.*?regex used for validation is '[^']*'\)|[^,]*)(, values.*)?$/,
      'invalid label value: $2: at key: "$1": $3',
    )
    .replace(
      /\[?values(?:\[\d+\])?: Invalid value: .*?: (?=for 'Gt'|for 'in'|exact-match|values set)/,
      '',
    )
}

/** The first release whose types are known by another line of its source. */
const schemeMovedIn = 20

/** That a kind is not known where it was said; `version` is said as `version "v1"`. */
export const unregisteredKind = (kind: string, version: string, release: number): string =>
  `no kind "${kind}" is registered for ${version} in scheme "pkg/runtime/scheme.go:${release < schemeMovedIn ? 101 : 100}"`

/** The first release that does not try to make one type of another field by field. */
const fieldsNotTriedSince = 19

/** That something else was sent as options of a deletion, by Go's name for it. */
export function noDeleteOptions(goType: string, release: number): string {
  const missing = goType.endsWith('.WatchEvent') ? 'TypeMeta' : 'GracePeriodSeconds'
  const why = release < fieldsNotTriedSince ? `${missing} not present in src` : 'unknown conversion'
  return `converting (${goType}) to (v1.DeleteOptions): ${why}`
}

/** The first release to which what cannot be read after a patch is the patch's fault, not its own. */
export const patchesBlamedSince = 16

/** The first release that says so where an error is of no field. */
const noFieldSaidSince = 20

/** The errors as a release would tell them. */
export const inWordsOf = (errors: FieldError[], release: number): FieldError[] =>
  errors.map((error) => ({
    type: error.type,
    field: fieldOf(error, release),
    message: messageOf(error, release),
  }))

const fieldOf = ({ field }: FieldError, release: number): string =>
  field === FieldPath.none.toString() && release < noFieldSaidSince ? '' : field

function messageOf(error: FieldError, release: number): string {
  if (releaseOf(release).has(errorsShowJson)) return messageWithJson(error)
  const { type, message } = error
  const words = wordsOf(message, release)
  const counted = type === 'FieldValueTooLong' && release < bytesSince
  return counted ? words.replace(/ bytes$/, ' characters') : words
}
