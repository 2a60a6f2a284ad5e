/**
 * Flags that affect every request before all other steps: CORS headers, preflight requests, HSTS
 * and GOAWAY. Loaded only if such a flag is set.
 */
import { firstValue } from '#access/authenticate/header-values.ts'
import { compilePattern } from '#schema/structural/pattern.ts'
import type { AnswerHeaders, Wire } from './exchange.ts'

type Serve = (wire: Wire) => void

export interface AroundOptions {
  /** Regular expressions of the origins whose pages may call the server. */
  readonly origins: readonly string[]
  /** The directives of Strict-Transport-Security. */
  readonly directives: readonly string[]
  /**
   * The share of HTTP/2 requests after which the connection accepts no more: 0.01 is one in a
   * hundred.
   */
  readonly goAwayChance: number
  readonly random: () => number
  /** The headers of a response that is sent without an exchange. */
  readonly ownHeaders: (wire: Wire) => AnswerHeaders
}

export function aroundRequests(serve: Serve, options: AroundOptions): Serve {
  let outer = serve
  if (options.origins.length > 0) outer = withOrigins(outer, options)
  if (options.goAwayChance > 0) outer = withGoAway(outer, options)
  if (options.directives.length > 0) outer = withTransportSecurity(outer, options.directives)
  return outer
}

/** Calls `change` with the headers of the response. Upgraded connections have none. */
function beforeAnswer(wire: Wire, change: (headers: AnswerHeaders) => AnswerHeaders): void {
  const { answer, answerPieces, stream } = wire
  wire.answer = (status, headers, body) => answer.call(wire, status, change(headers), body)
  wire.answerPieces = (status, headers, pieces) =>
    answerPieces.call(wire, status, change(headers), pieces)
  wire.stream = (status, headers) => stream.call(wire, status, change(headers))
}

function withTransportSecurity(serve: Serve, directives: readonly string[]): Serve {
  const headersToAdd = { 'strict-transport-security': directives.join('; ') }
  return (wire) => {
    beforeAnswer(wire, (headers) => ({ ...headersToAdd, ...headers }))
    serve(wire)
  }
}

/**
 * Sends GOAWAY: current requests continue, and the client opens a new connection for its next
 * request, possibly to another server.
 */
function withGoAway(serve: Serve, { goAwayChance, random }: AroundOptions): Serve {
  return (wire) => {
    if (wire.goAway !== undefined && random() < goAwayChance)
      beforeAnswer(wire, (headers) => {
        wire.goAway?.()
        return headers
      })
    serve(wire)
  }
}

const allowed = {
  'access-control-allow-credentials': 'true',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-expose-headers': 'Date',
}

/**
 * Browsers send preflight requests with OPTIONS and without credentials, so they are answered
 * before authentication.
 */
function withOrigins(serve: Serve, { origins, ownHeaders }: AroundOptions): Serve {
  const patterns = origins.map(compilePattern)
  return (wire) => {
    const origin =
      wire.headers.origin === undefined ? '' : (firstValue(wire.separateHeaders.origin) ?? '')
    if (origin === '' || !patterns.some((pattern) => pattern.matches(origin))) return serve(wire)
    const headersToAdd = { ...allowed, 'access-control-allow-origin': origin }
    if (wire.method === 'OPTIONS')
      return wire.answer(204, { ...headersToAdd, ...ownHeaders(wire) }, undefined)
    beforeAnswer(wire, (headers) => ({ ...headersToAdd, ...headers }))
    serve(wire)
  }
}
