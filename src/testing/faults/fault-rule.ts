/**
 * A fault rule: which requests it matches, and which fault it injects. Rules are plain data, so
 * that they can also be sent by HTTP. Only rules inside the process may have a callback.
 */
import type { RequestRecord } from '#testing/request-log.ts'
import { requireValid } from '#testing/value-schema.ts'
import { actionSchema, matchSchema } from './fault-schemas.ts'
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
  /** Only during this time after the rule was added, by the clock of the cluster. */
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
  /**
   * The watch ends with 410 Expired, at once or after `endAfter` events; a client must list again.
   */
  readonly gone?: boolean
  readonly withholdBookmarks?: boolean
  /**
   * For each object, skips this many events before each delivered one, so the client misses
   * intermediate states. Deletions are never skipped, and a skipped last state arrives after a
   * short pause.
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

/** Throws a TypeError that says what is wrong with a rule. */
export function requireFaultRule(rule: FaultRule): void {
  const { match = {}, action } = rule
  requireValid(matchSchema, match, 'match')
  if (typeof action !== 'object' || action === null)
    throw new TypeError('a fault rule needs an action')
  const { call, watch, ...plain } = action as { call?: unknown; watch?: Record<string, unknown> }
  if (call !== undefined && typeof call !== 'function')
    throw new TypeError('action.call must be a function')
  const isWatch = typeof watch === 'object' && watch !== null
  // A gate exists only in TypeScript, like a call.
  const { gate: _, ...plainWatch } = isWatch ? watch : {}
  const seen = isWatch ? plainWatch : watch
  requireValid(actionSchema, { ...plain, ...(watch !== undefined && { watch: seen }) }, 'action')
  const kinds = Object.keys(action).filter((member) => member !== 'when')
  if (kinds.length !== 1) throw new TypeError('a fault rule needs exactly one action')
  if ('when' in action && !('error' in action))
    throw new TypeError('action.when belongs to an error only')
}
