/**
 * The options of list and watch: formats them as a query, and parses and validates queries in
 * kube-apiserver's order with its messages.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, notSupported } from './field-error.ts'
import { type FieldSelector, parseFieldSelector } from './field-selector.ts'
import { LabelSelectorError } from './label-requirement.ts'
import { type LabelSelector, parseLabelSelector } from './label-selector.ts'
import { wordsOf } from './release-words.ts'
import { ApiError, badRequest, invalidObject } from './status-error.ts'

export interface ListOptions {
  readonly labelSelector: LabelSelector
  readonly fieldSelector: FieldSelector
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  /** Empty if not specified. */
  readonly resourceVersion: string
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan'
  readonly timeoutSeconds: number | undefined
  /** 0 means no limit. */
  readonly limit: number
  readonly continueToken: string
  /**
   * Whether a watch begins with the existing objects. Undefined if the client does not specify it.
   */
  readonly sendInitialEvents?: boolean | undefined
}

/** The query parameters of a list request. An absent parameter is not set. */
export interface ListQuery {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continueToken?: string
  readonly resourceVersion?: string
}

/** The query as URL parameters. */
export function listParameters(query: ListQuery): URLSearchParams {
  const params = new URLSearchParams()
  if (query.labelSelector) params.set('labelSelector', query.labelSelector)
  if (query.fieldSelector) params.set('fieldSelector', query.fieldSelector)
  if (query.limit) params.set('limit', String(query.limit))
  if (query.continueToken) params.set('continue', query.continueToken)
  if (query.resourceVersion) params.set('resourceVersion', query.resourceVersion)
  return params
}

const hasVersionMatch = change('lists accept resourceVersionMatch', { since: 19 })

const knowsInitialEvents = change('a watch can specify sendInitialEvents', { since: 27 })

const optionsKind = { group: 'meta.k8s.io', kind: 'ListOptions' }

/**
 * `watchForced` is for the deprecated /watch/ paths. `watchList`: a watch can begin with the
 * existing objects, followed by a bookmark. A watch without resourceVersion, or with 0, then does
 * so.
 */
export function parseListOptions(
  query: URLSearchParams,
  release: number,
  watchForced = false,
  watchList = false,
): ListOptions {
  // Numbers are parsed before selectors, and selectors before other checks, so that the first error
  // is that of kube-apiserver.
  const timeoutSeconds = integer(query.get('timeoutSeconds'))
  const limit = Math.max(0, integer(query.get('limit')) ?? 0)
  const watch = flag(query.get('watch'))
  const initial = releaseOf(release).has(knowsInitialEvents) ? query.get('sendInitialEvents') : null
  const options: Writable<ListOptions> = {
    labelSelector: labels(query.get('labelSelector') ?? '', release),
    fieldSelector: parseFieldSelector(query.get('fieldSelector') ?? ''),
    watch,
    allowWatchBookmarks: flag(query.get('allowWatchBookmarks')),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: matchOf(query, release),
    timeoutSeconds,
    limit,
    continueToken: query.get('continue') ?? '',
    sendInitialEvents: initial === null ? undefined : flag(initial),
  }
  if (watchList && beginsWithList(options)) {
    options.sendInitialEvents = true
    options.resourceVersionMatch = 'NotOlderThan'
  }
  const errors =
    watch && releaseOf(release).has(knowsInitialEvents)
      ? watchErrors(options, watchList)
      : optionErrors(options)
  if (errors.length > 0) throw invalidObject(optionsKind, '', errors)
  return watchForced ? { ...options, watch: true } : options
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

/** A watch without this parameter that starts with the existing objects. */
const beginsWithList = (options: ListOptions): boolean =>
  options.watch &&
  options.sendInitialEvents === undefined &&
  options.resourceVersionMatch === '' &&
  (options.resourceVersion === '' || options.resourceVersion === '0')

/** Older releases ignore this parameter, like every unknown parameter. */
const matchOf = (query: URLSearchParams, release: number) =>
  ((releaseOf(release).has(hasVersionMatch) && query.get('resourceVersionMatch')) ||
    '') as ListOptions['resourceVersionMatch']

function labels(text: string, release: number): LabelSelector {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    throw error instanceof LabelSelectorError ? badRequest(error.inWords(wordsOf(release))) : error
  }
}

function optionErrors(options: ListOptions): FieldError[] {
  const { resourceVersionMatch: match, resourceVersion, continueToken, watch } = options
  const errors: FieldError[] = []
  const ofList: FieldError[] =
    options.sendInitialEvents === undefined
      ? []
      : [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
  if (match === '') return ofList
  const path = 'resourceVersionMatch'
  if (watch) errors.push(forbidden(path, 'resourceVersionMatch is forbidden for watch'))
  if (resourceVersion === '') {
    errors.push(
      forbidden(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    )
  }
  if (continueToken !== '') {
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported(path, match, ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(
      forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    )
  }
  return [...errors, ...ofList]
}

function watchErrors(options: ListOptions, watchList: boolean): FieldError[] {
  const { resourceVersionMatch: match, sendInitialEvents, continueToken } = options
  const errors: FieldError[] = []
  const path = 'resourceVersionMatch'
  if (sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') {
      errors.push(
        forbidden(path, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
      )
    }
    if (!watchList) errors.push(forbidden('sendInitialEvents', needsWatchList))
  }
  if (match === '') return errors
  if (sendInitialEvents === undefined) {
    errors.push(
      forbidden(
        path,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    )
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(path, match, ['NotOlderThan']))
  if (continueToken !== '') {
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  return errors
}

const needsWatchList =
  'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'

/** A parameter is false only if it is absent, `false` or `0`. */
export const flag = (value: string | null): boolean =>
  value !== null && value.toLowerCase() !== 'false' && value !== '0'

export const integer = (value: string | null): number | undefined =>
  value === null ? undefined : Number(parseInt64(value))

export function parseInt64(value: string): bigint {
  if (!/^[+-]?\d+$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  }
  const number = BigInt(value.replace('+', ''))
  if (BigInt.asIntN(64, number) !== number) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
  }
  return number
}

const invalidVersion = (problem: string): ApiError =>
  badRequest(`invalid resource version: ${problem}`)

/** The watch cache reports an invalid version as an error of the server. */
export const uncheckedVersion = (problem: string): ApiError => new ApiError(500, '', problem)

/** A resourceVersion as a number; undefined if it is not specified. */
export function parseResourceVersion(
  text: string,
  refusal: (problem: string) => ApiError = invalidVersion,
): number | undefined {
  if (text === '') return undefined
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  if (why === 'value out of range' && BigInt(text) < 2n ** 64n) return Number.MAX_SAFE_INTEGER
  throw refusal(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
  )
}
