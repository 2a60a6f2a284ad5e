/**
 * A fault rule: which requests it concerns, and what goes wrong with them. Rules are plain data, so
 * that they can come over HTTP too; a callback is possible only inside the process.
 */
import type { RequestRecord } from '#testing/request-log.ts'
import type { WatchGate } from './watch-gate.ts'

/**
 * Every member that is given must hold. Texts are compared whole, a user agent by its beginning.
 */
export interface FaultMatch {
  /** get, list, watch, create, update, patch, delete or deletecollection; one or several. */
  readonly verb?: string | readonly string[]
  /** The plural name, with the subresource: `pods`, `deployments/status`. One or several. */
  readonly resource?: string | readonly string[]
  readonly group?: string
  readonly namespace?: string
  readonly name?: string
  /** The user that sends the request, or that it impersonates. */
  readonly user?: string
  readonly userAgent?: string
  /** Only the n-th request that matches the rest, counted from 1. */
  readonly nth?: number
  /** At most this many of the requests that match. */
  readonly times?: number
  /** Each request with this probability, from a generator with the seed of the rule. */
  readonly probability?: number
  readonly seed?: number
  /** Only during this time after the rule was added. */
  readonly forMs?: number
}

/** The Status of a response. The reason follows from the code unless it is given. */
export interface FaultError {
  readonly code: number
  readonly reason?: string
  readonly message?: string
  readonly retryAfterSeconds?: number
}

/** `after`: the request is done first, and its response is lost. */
export type FaultMoment = 'before' | 'after'

export interface WatchFault {
  /** Every event comes this much later. */
  readonly delayMs?: number
  /** The server ends the watch after this many events. */
  readonly endAfter?: number
  /** With `endAfter`: the watch ends with 410 Expired; a client must list again. */
  readonly gone?: boolean
  readonly withholdBookmarks?: boolean
  /**
   * This many events of each object are skipped before one is delivered: the client misses states
   * in between.
   */
  readonly skip?: number
  /** Events pass while this gate is open. */
  readonly gate?: WatchGate
}

export type FaultAction =
  | { readonly error: FaultError; readonly when?: FaultMoment }
  | { readonly delayMs: number }
  /** Breaks the connection off. */
  | { readonly cut: FaultMoment }
  | { readonly watch: WatchFault }
  /** Reads and watches come from a replica that is this many revisions behind. */
  | { readonly stale: { readonly revisions: number } }
  /** Runs after the request is done; the response waits for it. */
  | { readonly call: (request: RequestRecord) => unknown }
  /** POSTs the request to this address after it is done; the response waits for the answer. */
  | { readonly hook: string }

export interface FaultRule {
  readonly match?: FaultMatch
  readonly action: FaultAction
}

/** One injected fault, as the log keeps it. */
export interface InjectedFault {
  /** The number that `add` returned. */
  readonly rule: number
  readonly action: string
  readonly method: string
  readonly url: string
  readonly userAgent: string
}

const verbs = new Set([
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
])
const matchMembers = new Set([
  ...['verb', 'resource', 'group', 'namespace', 'name', 'user', 'userAgent'],
  ...['nth', 'times', 'probability', 'seed', 'forMs'],
])
const watchMembers = new Set(['delayMs', 'endAfter', 'gone', 'withholdBookmarks', 'skip', 'gate'])
const actionMembers: Readonly<Record<string, (value: never) => boolean>> = {
  error: ({ code }: FaultError) => Number.isInteger(code) && code >= 400 && code <= 599,
  when: (moment: string) => moment === 'before' || moment === 'after',
  delayMs: (value: number) => value >= 0,
  cut: (moment: string) => moment === 'before' || moment === 'after',
  watch: (fault: WatchFault) => Object.keys(fault).every((member) => watchMembers.has(member)),
  stale: ({ revisions }: { revisions: number }) => Number.isInteger(revisions) && revisions >= 0,
  call: (value: unknown) => typeof value === 'function',
  hook: (value: string) => URL.canParse(value),
}

/** Throws a TypeError that names what is wrong with a rule. */
export function requireFaultRule(rule: FaultRule): void {
  const { match = {}, action } = rule
  const unknown = Object.keys(match).find((member) => !matchMembers.has(member))
  if (unknown !== undefined) throw new TypeError(`match.${unknown} is no member of a fault rule`)
  const wrong = [match.verb ?? []].flat().find((verb) => !verbs.has(verb))
  if (wrong !== undefined) throw new TypeError(`match.verb: ${wrong} is no verb`)
  if (typeof action !== 'object' || action === null)
    throw new TypeError('a fault rule needs an action')
  const kinds = Object.entries(action)
  for (const [member, value] of kinds) {
    const isValid = actionMembers[member] as ((value: unknown) => boolean) | undefined
    if (isValid === undefined) throw new TypeError(`action.${member} is no action`)
    if (value === null || !isValid(value)) throw new TypeError(`action.${member} has a wrong value`)
  }
  if (kinds.filter(([member]) => member !== 'when').length !== 1)
    throw new TypeError('a fault rule needs exactly one action')
}
