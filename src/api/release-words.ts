/**
 * Older wordings of messages. Rules use the wording of the newest release. Each row maps a text of
 * the newest release to the text of releases without a change. Only the end of a message is
 * replaced, so values from the client stay unchanged. This file contains no validation.
 *
 *   wordsOf(22).of('"a b": name part must be no more than 63 bytes')
 *                  '"a b": name part must be no more than 63 characters'
 */
import { type FieldError, messageWithJson } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import {
  labelKeyProblem,
  labelProblem,
  letterProblem,
  noDotsProblem,
  subdomainProblem,
} from './names.ts'
import { type ReleaseChange, change, type Release, releaseOf } from './releases/change.ts'

export const errorsShowJson = change('field errors show structured values as JSON', { since: 34 })
const labelKeys = change('errors say label key, not qualified name', { since: 35 })
const bytesOfNames = change('errors count the length of names in bytes, not characters', {
  since: 35,
})
const bytesOfValues = change('errors count the length of values in bytes, not characters', {
  since: 17,
})
const explainsDots = change('errors say that a label must not contain dots', { since: 27 })
const boundsLength = change('errors of length say: may not be more than', { since: 32 })
const portsNeedLetters = change('errors of port names require a letter, not a number', {
  since: 25,
})
const existsIsNamed = change('errors of quota scopes name the operator Exists', { since: 31 })
const citesRfc = change('errors of names cite RFC 1123', { since: 20 })
const bothFamilies = change('errors of special addresses name the ranges of both families', {
  since: 22,
})
const plainOperators = change('errors of selectors list operators without quotes', { since: 22 })
const affinityScope = change('errors of quota scopes name CrossNamespacePodAffinity', { since: 21 })
const bothExamples = change('errors of addresses have examples of both families', { since: 20 })
const namesSelectorParts = change('errors of selectors name the key or the value', { since: 21 })
const namesNoField = change('an error without a field names the field <nil>', { since: 20 })
const typesMoved = change('errors of unknown kinds name another line of the scheme', { since: 20 })
const schemeMoved = change('errors of unknown kinds name line 110 of the scheme', {
  since: 33,
  until: 34,
})
const schemeMovedAgain = change('errors of unknown kinds name line 111 of the scheme', {
  since: 35,
})
const convertsWhole = change('errors of deletion options do not name a missing field', {
  since: 19,
})
export const blamesPatches = change(
  'a patch whose result cannot be read is answered with 422, not 500',
  { since: 16 },
)

const withoutRfc = (text: string) => text.replace('a lowercase RFC 1123', 'a DNS-1123')
export const selectorOperators = 'expected: in, notin, =, ==, !=, gt, lt'
const oldScopes =
  'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort'

const scopesThatExist = `when scope is any of ${oldScopes}, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`

/**
 * Newer changes come first, because the older text of one row can be the newer text of another row.
 */
const rows: readonly (readonly [ReleaseChange, now: string, before: string])[] = [
  [labelKeys, labelKeyProblem, labelKeyProblem.replace('a valid label key', 'a qualified name')],
  [bytesOfNames, 'must be no more than 63 bytes', 'must be no more than 63 characters'],
  [explainsDots, noDotsProblem, labelProblem],
  [bothFamilies, '(127.0.0.0/8, ::1/128)', '(127.0.0.0/8)'],
  [bothFamilies, '(169.254.0.0/16, fe80::/10)', '(169.254.0.0/16)'],
  [bothFamilies, '(224.0.0.0/24, ff02::/10)', '(224.0.0.0/24)'],
  [bothFamilies, 'may not be unspecified (::)', 'may not be unspecified (0.0.0.0)'],
  [plainOperators, selectorOperators, "expected: '=', '!=', '==', 'in', notin'"],
  [
    portsNeedLetters,
    letterProblem,
    letterProblem.replace('letter (a-z)', 'letter or number (a-z, 0-9)'),
  ],
  [existsIsNamed, `'Exists' ${scopesThatExist}`, `'Exist' ${scopesThatExist}`],
  [
    affinityScope,
    `'Exist' when scope is any of ${oldScopes}, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`,
    `'Exist' only operator when scope is any of ${oldScopes} and ResourceQuotaScopeNotBestEffort`,
  ],
  [citesRfc, labelProblem, withoutRfc(labelProblem)],
  [citesRfc, subdomainProblem, withoutRfc(subdomainProblem)],
  [bothExamples, '(e.g. 10.9.8.7 or 2001:db8::ffff)', '(e.g. 10.9.8.7)'],
]

/** The messages of one release, resolved once per release. */
export interface Words {
  /** Converts a message of the newest release to this release. */
  of(message: string): string
  /**
   * Whether errors of selectors name the invalid key or value. Older releases report only the first
   * error.
   */
  readonly namesSelectorParts: boolean
}

const known = new Map<Release, Words>()

export function wordsOf(minor: number | Release): Words {
  const release = releaseOf(minor)
  let words = known.get(release)
  if (words === undefined) {
    words = makeWords(release)
    known.set(release, words)
  }
  return words
}

/** The newest release needs no conversion. */
export const newestWords: Words = { of: (message) => message, namesSelectorParts: true }

function makeWords(release: Release): Words {
  const older = rows.filter(([added]) => !release.has(added))
  const of = (message: string): string => {
    let words = message
    for (const [, now, before] of older)
      if (words.endsWith(now)) words = words.slice(0, -now.length) + before
    return words
  }
  return { of, namesSelectorParts: release.has(namesSelectorParts) }
}

/**
 * The error for a kind that is not registered in the requested version; `version` is `version
 * "v1"`.
 */
export const unregisteredKind = (kind: string, version: string, release: number): string =>
  `no kind "${kind}" is registered for ${version} in scheme "pkg/runtime/scheme.go:${schemeLine(releaseOf(release))}"`

/** The line number in kube-apiserver's source that errors about the scheme contain. */
export function schemeLine(release: Release): number {
  if (release.has(schemeMovedAgain)) return 111
  if (release.has(schemeMoved)) return 110
  return release.has(typesMoved) ? 100 : 101
}

/** The error if a client sends a type other than DeleteOptions as the body of a DELETE. */
export function noDeleteOptions(goType: string, release: number): string {
  const missing = goType.endsWith('.WatchEvent') ? 'TypeMeta' : 'GracePeriodSeconds'
  const why = releaseOf(release).has(convertsWhole)
    ? 'unknown conversion'
    : `${missing} not present in src`
  return `converting (${goType}) to (v1.DeleteOptions): ${why}`
}

/** Errors with the messages of the release. */
export const inWordsOf = (errors: FieldError[], release: number): FieldError[] =>
  errors.flatMap((newest) => {
    if (newest.before !== undefined && releaseOf(release).has(newest.before)) return []
    const error = asReported(newest, releaseOf(release))
    const field = fieldOf(error, release)
    return [{ type: error.type, field, message: messageOf(error, release) }]
  })

function asReported(newest: FieldError, release: Release): FieldError {
  let error = newest
  while (error.older !== undefined && !release.has(error.older.before)) error = error.older.error
  return error
}

const fieldOf = ({ field }: FieldError, release: number): string =>
  field === FieldPath.none.toString() && !releaseOf(release).has(namesNoField) ? '' : field

function tooLongOf(limit: number, release: Release): string {
  if (release.has(boundsLength)) return `Too long: may not be more than ${limit} bytes`
  const unit = release.has(bytesOfValues) ? 'bytes' : 'characters'
  return `Too long: must have at most ${limit} ${unit}`
}

function messageOf(error: FieldError, minor: number): string {
  const release = releaseOf(minor)
  if (release.has(errorsShowJson)) return wordsOf(release).of(messageWithJson(error))
  const { limit, message } = error
  if (limit !== undefined) return tooLongOf(limit, release)
  return wordsOf(release).of(message)
}
