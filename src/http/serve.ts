/**
 * Serves a request: the chain of filters, then the route. It handles all exceptions: an ApiError
 * becomes its Status. Any other error is a defect, which is logged and returned as 500 without
 * details.
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
import { OutcomeUnknown, StorageUnavailable, Unopened, Unreadable } from '#storage/storage.ts'
import { namesRepresentations } from '#http/request/body.ts'
import { Deadlines } from './deadlines.ts'
import type { Exchange, Wire } from './exchange.ts'
import { filters } from './filters.ts'
import { isLongRunning } from './observers/request-place.ts'
import type { HttpParts } from './parts.ts'
import { readQuery } from '#http/request/read-query.ts'
import { parseTarget } from '#http/request/request-target.ts'
import { respondError } from '#http/response/respond.ts'
import { route } from './route.ts'

/** Makes the handler of incoming requests. */
export function requestServer(parts: HttpParts): (wire: Wire) => void {
  const deadlines = new Deadlines<Exchange>(
    parts.limits.requestTimeoutMs,
    parts.monotonicMs,
    // The client gets 504, and the work may still finish. A response that the client does not read
    // in time is broken off, including this 504.
    (exchange) => {
      if (exchange.over) return exchange.wire.abort?.()
      end(exchange, timeout('request did not complete within the allotted timeout'))
      if (exchange.wire.isWaiting) deadlines.begin(exchange, parts.monotonicMs())
    },
  )
  parts.stopping.addEventListener('abort', () => deadlines.stop(), { once: true })
  const left = (exchange: Exchange) => {
    deadlines.end(exchange)
    finish(exchange, parts)
  }
  const end = (exchange: Exchange, error: unknown) => {
    // A request that timed out in the queue may have got a seat afterwards.
    if (exchange.over) return exchange.seat?.release()
    exchange.over = true
    const isBegun = exchange.status !== 0
    const isSent = error !== undefined && fail(exchange, parts, error)
    // A response that has begun cannot become an error, so it is broken off.
    if (isSent && isBegun) exchange.wire.abort?.()
    const { wire, target } = exchange
    // A response needs memory until the client has read it, so its request keeps its seat.
    if (wire.isWaiting && !isLongRunning(target)) wire.onClose?.(() => left(exchange))
    else left(exchange)
  }
  return (wire) => {
    if (wire.url === '/' && loadPage().isBrowserVisit(wire)) return welcome(wire, parts)
    const exchange = opened(wire, parts)
    if (exchange === undefined) return
    let requested: Hurry | undefined
    const ended = (error?: unknown) => {
      clearTimeout(requested?.timer)
      // An error caused by the deadline, such as a cancelled webhook call, may arrive just before
      // the timer.
      const isLate = error !== undefined && requested?.isOver()
      end(exchange, isLate ? requested?.error : error)
    }
    if (!isLongRunning(exchange.target)) {
      deadlines.begin(exchange, exchange.startedAt)
      if (exchange.query.has('timeout')) {
        try {
          requested = hurried(exchange, parts, (error) => end(exchange, error))
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

const loadPage = loadLater<typeof import('#http/response/browser-page.ts')>(
  import.meta.url,
  '#http/response/browser-page',
)

function welcome(wire: Wire, parts: HttpParts): void {
  const { pageBody, pageHeaders } = loadPage()
  wire.answer(200, { ...ownHeaders(wire, parts), ...pageHeaders }, pageBody)
}

const loadRequestedTimeout = loadLater<typeof import('#http/request/requested-timeout.ts')>(
  import.meta.url,
  '#http/request/requested-timeout',
)

interface Hurry {
  readonly timer: NodeJS.Timeout
  readonly error: ApiError
  isOver(): boolean
}

/** Ends a request at the timeout that its client specified. */
function hurried(
  exchange: Exchange,
  { limits: { requestTimeoutMs }, server: { release }, monotonicMs }: HttpParts,
  end: (error: unknown) => void,
): Hurry | undefined {
  const isWrite = !['GET', 'HEAD'].includes(exchange.wire.method)
  const { requestedTimeout } = loadRequestedTimeout()
  const requested = requestedTimeout(exchange.query, isWrite, requestTimeoutMs, release)
  if (requested === undefined) return undefined
  const error = timeout(requested.words)
  const deadlineAt = exchange.startedAt + requested.timeoutMs
  exchange.deadlineAt = deadlineAt
  const timer = setTimeout(() => end(error), requested.timeoutMs)
  timer.unref()
  return { timer, error, isOver: () => monotonicMs() >= deadlineAt }
}

/** Rejects a request that cannot be parsed, without the filters. */
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
const showsTablesOfSubresources = change('a status and a scale can be shown as tables', {
  since: 24,
})
const setsCacheControl = change('responses have Cache-Control', { since: 16 })
const allHaveAuditIds = change('every response has an Audit-Id', { since: 22 })

/** The query of most requests. Read-only. */
const noQuery = new URLSearchParams()

/**
 * A key for the method and the path. They are separated by a line break, which neither contains.
 */
const plainTarget = byText((requested: string) => {
  const end = requested.indexOf('\n')
  return parseTarget(requested.slice(0, end), requested.slice(end + 1), noQuery)
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
    impersonationConstraint: '',
    warnings: [],
    auditAnnotations: new Map(),
    omitsCacheHeaders: !releaseOf(parts.server.release).has(setsCacheControl),
    acceptRules: acceptRulesOf(parts.server),
    tablesOfSubresources: releaseOf(parts.server.release).has(showsTablesOfSubresources),
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

/** The headers of a response without an exchange. */
export function ownHeaders(wire: Wire, { server: { release }, newAuditId }: HttpParts) {
  return {
    ...(releaseOf(release).has(allHaveAuditIds) && { 'audit-id': auditIdOf(wire) || newAuditId() }),
    ...(releaseOf(release).has(setsCacheControl) && { 'cache-control': 'no-cache, private' }),
  }
}

/** A client may specify the audit ID, to find its request in the audit log. */
function auditIdOf({ headers }: Wire): string {
  const given = headers['audit-id']
  return typeof given === 'string' ? given : ''
}

async function run(exchange: Exchange, parts: HttpParts): Promise<void> {
  for (const { run: filter } of filters) {
    const waiting = filter(exchange, parts)
    if (waiting === undefined) continue
    await waiting
    // The request may have timed out in a filter, and its response is already sent.
    if (exchange.over) return
  }
  await route(exchange, parts)
}

/** Sends the error. Returns false if that failed and the connection was closed. */
function fail(exchange: Exchange, parts: HttpParts, error: unknown): boolean {
  try {
    if (exchange.sendsAuditIdIfAudited)
      for (const { refusing } of parts.observers) refusing?.(exchange)
    respondError(exchange, asApiError(error, exchange, parts))
    return true
  } catch (second) {
    parts.report('an answer could not be written', second)
    // Close the connection: the client would wait for ever.
    exchange.wire.abort?.()
    return false
  }
}

function asApiError(error: unknown, exchange: Exchange, parts: HttpParts): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof OutcomeUnknown) return new ApiError(500, '', error.message)
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
