/**
 * A fault rule: which requests it matches, and which fault it injects. Rules are plain data, so
 * that they can also be sent by HTTP. Only rules inside the process may have a callback.
 */
import type { RequestRecord } from '#testing/request-log.ts'
import type { WatchGate } from './watch-gate.ts'

/** All specified members must match. Texts must be equal; a user agent must have the prefix. */
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
  /** Only the n-th matching request, counted from 1. */
  readonly nth?: number
  /** At most this many matching requests. */
  readonly times?: number
  /**
   * Each matching request with this probability, by a random generator with the seed of the rule.
   */
  readonly probability?: number
  readonly seed?: number
  /** Only during this time after the rule was added. */
  readonly forMs?: number
}

/** The Status of the response. If the reason is absent, it follows from the code. */
export interface FaultError {
  readonly code: number
  readonly reason?: string
  readonly message?: string
  readonly retryAfterSeconds?: number
}

/** `after`: the request is processed first, and then its response is lost. */
export type FaultMoment = 'before' | 'after'

export interface WatchFault {
  /** Delays every event by this time. */
  readonly delayMs?: number
  /** The server ends the watch after this many events. */
  readonly endAfter?: number
  /** With `endAfter`: the watch ends with 410 Expired; a client must list again. */
  readonly gone?: boolean
  readonly withholdBookmarks?: boolean
  /**
   * For each object, skips this many events before each delivered one, so the client misses
   * intermediate states.
   */
  readonly skip?: number
  /** Events are delivered only while this gate is open. */
  readonly gate?: WatchGate
}

export type FaultAction =
  | { readonly error: FaultError; readonly when?: FaultMoment }
  | { readonly delayMs: number }
  /** Breaks the connection. */
  | { readonly cut: FaultMoment }
  | { readonly watch: WatchFault }
  /** A replica that is this many revisions behind serves reads and watches. */
  | { readonly stale: { readonly revisions: number } }
  /** Called after the request was processed; the response waits for it. */
  | { readonly call: (request: RequestRecord) => unknown }
  /** POSTs the request to this URL after it was processed; the response waits for the result. */
  | { readonly hook: string }

export interface FaultRule {
  readonly match?: FaultMatch
  readonly action: FaultAction
}

/** One injected fault in the log. */
export interface InjectedFault {
  /** The number of the rule, which `add` returned. */
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

/** Throws a TypeError that says what is wrong with a rule. */
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
