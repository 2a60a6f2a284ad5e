/**
 * From a wire to an answer: the chain of filters, then the route. Everything thrown on the way ends here: an ApiError is
 * answered as its Status, anything else is our own defect, logged and answered as 500 without its details.
 */
import { anonymous } from '#access/user.ts'
import {
  ApiError,
  badRequest,
  internalError,
  serviceUnavailable,
  timeout,
} from '#api/status-error.ts'
import { StorageUnavailable } from '#storage/storage.ts'
import type { Exchange, Wire } from './exchange.ts'
import { filters } from './filters.ts'
import type { HttpParts } from './parts.ts'
import { parseTarget } from './request-target.ts'
import { respondError } from './respond.ts'
import { route } from './route.ts'

export function serve(wire: Wire, parts: HttpParts): void {
  let exchange: Exchange
  try {
    exchange = open(wire, parts)
  } catch (error) {
    const refusal = error instanceof ApiError ? error : badRequest('the request cannot be read')
    const body = Buffer.from(`${JSON.stringify(refusal.status())}\n`)
    wire.answer(refusal.code, { 'content-type': 'application/json' }, body)
    return
  }
  run(exchange, parts).then(
    () => finish(exchange, parts),
    (error) => {
      fail(exchange, parts, error)
      finish(exchange, parts)
    },
  )
}

function open(wire: Wire, parts: HttpParts): Exchange {
  const mark = wire.url.indexOf('?')
  const path = mark === -1 ? wire.url : wire.url.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? '' : wire.url.slice(mark + 1))
  return {
    wire,
    query,
    target: parseTarget(wire.method, path, query),
    auditId: auditIdOf(wire) || parts.newAuditId(),
    startedAt: parts.monotonicMs(),
    user: anonymous,
    impersonator: undefined,
    warnings: [],
    auditAnnotations: new Map(),
    body: undefined,
    kind: undefined,
    answer: undefined,
    refusal: undefined,
    defect: undefined,
    status: 0,
    answeredBytes: 0,
    seat: undefined,
    running: undefined,
    record: undefined,
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
    if (waiting !== undefined) await waiting
  }
  const { target } = exchange
  if (target.verb === 'watch' || isLongRunning(target.subresource)) return route(exchange, parts)
  return withDeadline(parts.limits.requestTimeoutMs, route(exchange, parts))
}

const longRunning = new Set(['log', 'exec', 'attach', 'portforward', 'proxy'])
const isLongRunning = (subresource: string) => longRunning.has(subresource)

/** A request that takes longer than the server's limit is answered with 504; its work may still finish. */
function withDeadline(limitMs: number, work: Promise<void>): Promise<void> {
  if (limitMs <= 0) return work
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(timeout('request did not complete within the allotted timeout'))
    }, limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function fail(exchange: Exchange, parts: HttpParts, error: unknown): void {
  try {
    respondError(exchange, asApiError(error, exchange, parts))
  } catch (second) {
    parts.report('an answer could not be written', second)
  }
}

function asApiError(error: unknown, exchange: Exchange, parts: HttpParts): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StorageUnavailable) return serviceUnavailable(error.message)
  if (!exchange.wire.signal.aborted) {
    exchange.defect = error
    parts.report(`${exchange.wire.method} ${exchange.target.path} failed`, error)
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
