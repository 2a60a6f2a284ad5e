/**
 * From a wire to an answer: the chain of filters, then the route. Everything thrown on the way ends
 * here: an ApiError is answered as its Status, anything else is our own defect, logged and answered
 * as 500 without its details.
 */
import { servesCbor } from '#codec/media-type.ts'
import type { AcceptRules } from '#codec/accept-header.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { anonymous } from '#access/user.ts'
import {
  ApiError,
  badRequest,
  internalError,
  serviceUnavailable,
  timeout,
} from '#api/status-error.ts'
import { byText } from '#base/by-text.ts'
import { loadLater } from '#base/load-later.ts'
import { StorageUnavailable, Unopened, Unreadable } from '#storage/storage.ts'
import { namesRepresentations } from './body.ts'
import { Deadlines } from './deadlines.ts'
import type { Exchange, Wire } from './exchange.ts'
import { filters } from './filters.ts'
import { isLongRunning } from './observers/request-place.ts'
import type { HttpParts } from './parts.ts'
import { readQuery } from './read-query.ts'
import { parseTarget } from './request-target.ts'
import { respondError } from './respond.ts'
import { route } from './route.ts'

/** What takes requests off the wire. */
export function requestServer(parts: HttpParts): (wire: Wire) => void {
  const deadlines = new Deadlines<Exchange>(
    parts.limits.requestTimeoutMs,
    parts.monotonicMs,
    // Answered with 504; the work may still finish, unseen by the client. An untaken answer is
    // broken off, also that one.
    (exchange) => {
      if (exchange.over) return exchange.wire.abort?.()
      end(exchange, timeout('request did not complete within the allotted timeout'))
      if (exchange.wire.isWaiting) deadlines.begin(exchange, parts.monotonicMs())
    },
  )
  const left = (exchange: Exchange) => {
    deadlines.end(exchange)
    finish(exchange, parts)
  }
  const end = (exchange: Exchange, error: unknown) => {
    // What was waiting for a place when the time was over may have got one since.
    if (exchange.over) return exchange.seat?.release()
    exchange.over = true
    const isBegun = exchange.status !== 0
    const isTold = error !== undefined && fail(exchange, parts, error)
    // The rest of an answer that was begun cannot be an error: it is broken off, and its place is
    // free.
    if (isTold && isBegun) exchange.wire.abort?.()
    const { wire, target } = exchange
    // Until its client has taken it, an answer costs memory: the request keeps its place among
    // those that may run.
    if (wire.isWaiting && !isLongRunning(target)) wire.onClose?.(() => left(exchange))
    else left(exchange)
  }
  return (wire) => {
    if (wire.url === '/' && loadPage().isBrowserVisit(wire)) return welcome(wire, parts)
    const exchange = opened(wire, parts)
    if (exchange === undefined) return
    let asked: Hurry | undefined
    const ended = (error?: unknown) => {
      clearTimeout(asked?.timer)
      // A failure because the time is over, such as the call of a webhook, may come a moment before
      // the timer.
      const isLate = error !== undefined && asked?.isOver()
      end(exchange, isLate ? asked?.error : error)
    }
    if (!isLongRunning(exchange.target)) {
      deadlines.begin(exchange, exchange.startedAt)
      if (exchange.query.has('timeout')) {
        try {
          asked = hurried(exchange, parts, (error) => end(exchange, error))
        } catch (error) {
          return ended(error)
        }
      }
    }
    run(exchange, parts).then(
      () => ended(),
      (error) => ended(error ?? new Error('nothing was thrown')),
    )
  }
}

const loadPage = loadLater<typeof import('./browser-page.ts')>(import.meta.url, './browser-page')

function welcome(wire: Wire, parts: HttpParts): void {
  const { pageBody, pageHeaders } = loadPage()
  wire.answer(200, { ...ownHeaders(wire, parts), ...pageHeaders }, pageBody)
}

const loadAsked = loadLater<typeof import('./requested-timeout.ts')>(
  import.meta.url,
  './requested-timeout',
)

interface Hurry {
  readonly timer: NodeJS.Timeout
  readonly error: ApiError
  isOver(): boolean
}

/** Ends a request after the time its client gives it. */
function hurried(
  exchange: Exchange,
  { limits: { requestTimeoutMs }, server: { release }, monotonicMs }: HttpParts,
  end: (error: unknown) => void,
): Hurry | undefined {
  const isWrite = !['GET', 'HEAD'].includes(exchange.wire.method)
  const { requestedTimeout } = loadAsked()
  const asked = requestedTimeout(exchange.query, isWrite, requestTimeoutMs, release)
  if (asked === undefined) return undefined
  const error = timeout(asked.words)
  const deadlineAt = exchange.startedAt + asked.timeoutMs
  exchange.deadlineAt = deadlineAt
  const timer = setTimeout(() => end(error), asked.timeoutMs)
  timer.unref()
  return { timer, error, isOver: () => monotonicMs() >= deadlineAt }
}

/** A request that cannot be read is refused as it stands. */
function opened(wire: Wire, parts: HttpParts): Exchange | undefined {
  try {
    return open(wire, parts)
  } catch (error) {
    const refusal = error instanceof ApiError ? error : badRequest('the request cannot be read')
    const body = Buffer.from(`${JSON.stringify(refusal.status())}\n`)
    wire.answer(refusal.code, { 'content-type': 'application/json' }, body)
    return undefined
  }
}

const ignoresEmptyParameters = change('empty parameters of an Accept header are ignored', {
  since: 17,
})
const showsTablesOfParts = change('a status and a scale can be shown as tables', { since: 24 })
const setsCacheControl = change('responses have Cache-Control', { since: 16 })
const allHaveAuditIds = change('every response has an Audit-Id', { since: 22 })

/** Most requests have nothing beside their path. Read-only. */
const noQuery = new URLSearchParams()

/** The target of a method and a path; neither contains the line break that separates them. */
const plainTarget = byText((asked: string) => {
  const end = asked.indexOf('\n')
  return parseTarget(asked.slice(0, end), asked.slice(end + 1), noQuery)
})

function acceptRulesOf({ release, feature }: HttpParts['server']): AcceptRules {
  if (!releaseOf(release).has(ignoresEmptyParameters)) return 'before 1.17'
  return feature(servesCbor) ? 'with CBOR' : 'present'
}

function open(wire: Wire, parts: HttpParts): Exchange {
  const mark = wire.url.indexOf('?')
  const path = mark === -1 ? wire.url : wire.url.slice(0, mark)
  const query = mark === -1 ? noQuery : readQuery(wire.url.slice(mark + 1))
  return {
    wire,
    query,
    target:
      mark === -1 ? plainTarget(`${wire.method}\n${path}`) : parseTarget(wire.method, path, query),
    auditId: auditIdOf(wire) || parts.newAuditId(),
    startedAt: parts.monotonicMs(),
    deadlineAt: undefined,
    user: anonymous,
    impersonator: undefined,
    warnings: [],
    auditAnnotations: new Map(),
    omitsCacheHeaders: !releaseOf(parts.server.release).has(setsCacheControl),
    acceptRules: acceptRulesOf(parts.server),
    tablesOfParts: releaseOf(parts.server.release).has(showsTablesOfParts),
    namesRepresentations: releaseOf(parts.server.release).has(namesRepresentations),
    sendsAuditIdIfAudited: !releaseOf(parts.server.release).has(allHaveAuditIds),
    body: undefined,
    types: undefined,
    kind: undefined,
    answer: undefined,
    refusal: undefined,
    defect: undefined,
    status: 0,
    answeredBytes: 0,
    seat: undefined,
    running: undefined,
    record: undefined,
    over: false,
  }
}

/** The headers of an answer that no exchange is made for. */
export function ownHeaders(wire: Wire, { server: { release }, newAuditId }: HttpParts) {
  return {
    ...(releaseOf(release).has(allHaveAuditIds) && { 'audit-id': auditIdOf(wire) || newAuditId() }),
    ...(releaseOf(release).has(setsCacheControl) && { 'cache-control': 'no-cache, private' }),
  }
}

/** Clients may name their request themselves, to find it in the audit log. */
function auditIdOf({ headers }: Wire): string {
  const given = headers['audit-id']
  return typeof given === 'string' ? given : ''
}

async function run(exchange: Exchange, parts: HttpParts): Promise<void> {
  for (const { run: filter } of filters) {
    const waiting = filter(exchange, parts)
    if (waiting === undefined) continue
    await waiting
    // Its time may be over meanwhile: it was answered, and observers have seen its end.
    if (exchange.over) return
  }
  await route(exchange, parts)
}

/** Returns false if the client was cut off, because nothing can be answered. */
function fail(exchange: Exchange, parts: HttpParts, error: unknown): boolean {
  try {
    if (exchange.sendsAuditIdIfAudited)
      for (const { refusing } of parts.observers) refusing?.(exchange)
    respondError(exchange, asApiError(error, exchange, parts))
    return true
  } catch (second) {
    parts.report('an answer could not be written', second)
    // Better none than to let the client wait for one.
    exchange.wire.abort?.()
    return false
  }
}

function asApiError(error: unknown, exchange: Exchange, parts: HttpParts): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StorageUnavailable) return serviceUnavailable(error.message)
  if (error instanceof Unopened) return internalError(error.message)
  if (error instanceof Unreadable) return new ApiError(500, '', error.message)
  if (!exchange.wire.signal.aborted) {
    exchange.defect = error
    parts.report(
      `${exchange.wire.method} ${exchange.target.path} failed (request ${exchange.auditId})`,
      error,
    )
  }
  return internalError('the server could not complete the request; its log says why')
}

function finish(exchange: Exchange, parts: HttpParts): void {
  for (const observer of parts.observers) {
    try {
      observer.end?.(exchange)
    } catch (error) {
      parts.report('an observer failed', error)
    }
  }
}
