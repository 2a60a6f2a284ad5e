/**
 * Injects faults into a cluster: rules that change its responses to some requests, and a log of the
 * injected faults. Requests without a fault pass through the whole server.
 */
import type { AnswerHeaders, Wire } from '#http/exchange.ts'
import type { Serve } from '#testing/in-process-call.ts'
import type { RequestRecord } from '#testing/request-log.ts'
import {
  type FaultAction,
  type FaultError,
  type FaultMoment,
  type FaultRule,
  type InjectedFault,
  requireFaultRule,
} from './fault-rule.ts'
import { type Matcher, matcherOf } from './matcher.ts'
import { factsOf, type RequestFacts } from './request-facts.ts'
import { faultWatch } from './watch-faults.ts'

/** A server whose reads are some revisions behind. */
export interface Replica {
  readonly serve: Serve
  /** Ends the watches of this replica. */
  close(): Promise<void>
}
export type OpenReplica = (revisions: number) => Promise<Replica>

interface Active {
  readonly number: number
  readonly action: FaultAction
  readonly matches: Matcher
  replica: Promise<Replica> | undefined
}

/** The number of newest faults in the log. */
const logMax = 10_000
const reads = new Set(['get', 'list', 'watch'])

/** kube-apiserver's reason for a status code. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

export class Faults {
  readonly #nowMs: () => number
  readonly #openReplica: OpenReplica
  readonly #rules = new Map<number, Active>()
  #log: InjectedFault[] = []
  #added = 0

  constructor(nowMs: () => number, openReplica: OpenReplica) {
    this.#nowMs = nowMs
    this.#openReplica = openReplica
  }

  /** All injected faults, oldest first. */
  get log(): readonly InjectedFault[] {
    return this.#log
  }

  /** Adds a rule after all existing ones. Returns its number, for `remove`. */
  add(rule: FaultRule): number {
    requireFaultRule(rule)
    const number = ++this.#added
    const matches = matcherOf(rule.match ?? {}, this.#nowMs)
    this.#rules.set(number, { number, action: rule.action, matches, replica: undefined })
    return number
  }

  /** Watches of a stale replica end, and its clients read the current state from then on. */
  remove(number: number): boolean {
    this.#rules.get(number)?.replica?.then(
      ({ close }) => close(),
      () => {},
    )
    return this.#rules.delete(number)
  }

  /** Removes all rules and clears the log. */
  clear(): void {
    for (const number of [...this.#rules.keys()]) this.remove(number)
    this.#log = []
  }

  /** Handles a request with the faults of matching rules. */
  serve(wire: Wire, record: RequestRecord, serve: Serve): void {
    if (this.#rules.size > 0) this.#serveFaulty(wire, record, serve)
    else serve(wire)
  }

  #serveFaulty(wire: Wire, record: RequestRecord, serve: Serve): void {
    const facts = factsOf(wire)
    const during = [...this.#rules.values()].filter(
      ({ action }) => momentOf(action, facts) === 'before',
    )
    const met = during.filter(({ matches }) => matches(facts))
    this.#watchOutcome(wire, facts, record)
    void this.#apply(wire, met, record, serve)
  }

  async #apply(wire: Wire, rules: Active[], record: RequestRecord, serve: Serve): Promise<void> {
    let served = serve
    for (const rule of rules) {
      const { number, action } = rule
      this.#note(number, action, record)
      if ('error' in action) return answerError(wire, action.error)
      if ('cut' in action) return wire.abort?.()
      if ('delayMs' in action) await new Promise((resolve) => setTimeout(resolve, action.delayMs))
      if ('watch' in action) faultWatch(wire, action.watch)
      if ('stale' in action) {
        const replica = await this.#replicaOf(rule, action.stale.revisions)
        if (replica instanceof Error)
          return answerError(wire, { code: 503, message: replica.message })
        served = replica.serve
      }
    }
    if (!wire.signal.aborted) served(wire)
  }

  /** If the store does not answer, the next request opens the replica. */
  #replicaOf(rule: Active, revisions: number): Promise<Replica | Error> {
    rule.replica ??= this.#openReplica(revisions)
    return rule.replica.catch((error: Error) => {
      rule.replica = undefined
      return error
    })
  }

  /**
   * Rules that act after the request match only successful requests: the write has then been
   * committed.
   */
  #watchOutcome(wire: Wire, facts: RequestFacts, record: RequestRecord): void {
    const after = [...this.#rules.values()].filter(
      ({ action }) => momentOf(action, facts) === 'after',
    )
    if (after.length === 0) return
    const { answer, answerPieces } = wire
    const finish = (status: number, pass: () => void) => {
      const met = status < 300 ? after.filter(({ matches }) => matches(facts)) : []
      if (met.length === 0) return pass()
      wire.answer = answer
      void this.#finish(wire, met, record, pass)
    }
    wire.answer = (status: number, headers: AnswerHeaders, body) =>
      finish(status, () => answer.call(wire, status, headers, body))
    wire.answerPieces = (status: number, headers: AnswerHeaders, pieces) =>
      finish(status, () => answerPieces.call(wire, status, headers, pieces))
  }

  async #finish(wire: Wire, rules: Active[], record: RequestRecord, pass: () => void) {
    for (const { number, action } of rules) {
      this.#note(number, action, record)
      if ('error' in action) return answerError(wire, action.error)
      if ('cut' in action) return wire.abort?.()
      try {
        if ('call' in action) await action.call(record)
        if ('hook' in action) await post(action.hook, record)
      } catch (error) {
        const message = `the hook of a fault rule failed: ${(error as Error).message}`
        return answerError(wire, { code: 500, message })
      }
    }
    pass()
  }

  #note(rule: number, action: FaultAction, { method, url, userAgent }: RequestRecord): void {
    if (this.#log.length >= logMax) this.#log = this.#log.slice(logMax / 2)
    this.#log.push({ rule, action: nameOf(action), method, url, userAgent })
  }
}

const nameOf = (action: FaultAction): string => {
  const { call: _, ...plain } = action as { call?: unknown }
  return 'call' in action ? 'call' : JSON.stringify(plain)
}

/**
 * When an action is applied to a request: before the server handles it, after it succeeded, or
 * never.
 */
function momentOf(action: FaultAction, { verb }: RequestFacts): FaultMoment | undefined {
  if ('error' in action) return action.when ?? 'before'
  if ('cut' in action) return action.cut
  if ('watch' in action) return verb === 'watch' ? 'before' : undefined
  if ('stale' in action) return reads.has(verb) ? 'before' : undefined
  return 'delayMs' in action ? 'before' : 'after'
}

export function answerError(wire: Wire, error: FaultError): void {
  const { code, retryAfterSeconds, message = 'injected by a fault rule' } = error
  const reason = error.reason ?? reasons[code]
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason !== undefined && { reason }),
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    code,
  }
  const headers: AnswerHeaders = {
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  }
  wire.answer(code, headers, Buffer.from(`${JSON.stringify(status)}\n`))
}

async function post(address: string, record: RequestRecord): Promise<void> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(record),
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
}
