/**
 * Determines the user. The first method that knows the credentials decides. Without credentials the
 * user is anonymous if the flags allow it; otherwise the response is 401.
 */
import { after } from '#base/awaitable.ts'
import type { Credentials } from '#access/authenticate.ts'
import { bearerToken } from '#access/authenticate/bearer.ts'
import { unauthorized } from '#api/status-error.ts'
import type { Exchange, Wire } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'

export function authenticate(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  return after(parts.authenticate(new WireCredentials(exchange)), (verdict) =>
    settle(exchange, parts, verdict),
  )
}

type Settled = Awaited<ReturnType<HttpParts['authenticate']>>

function settle(exchange: Exchange, parts: HttpParts, verdict: Settled): void {
  if (parts.instruments !== undefined) measure(exchange, parts, verdict)
  if (verdict?.annotations !== undefined)
    for (const [name, value] of Object.entries(verdict.annotations))
      exchange.auditAnnotations.set(name, value)
  if (verdict === undefined || !('user' in verdict)) throw unauthorized(parts.challenge)
  exchange.user = verdict.user
  if (verdict.warnings !== undefined) exchange.warnings.push(...verdict.warnings)
}

function measure({ startedAt }: Exchange, parts: HttpParts, verdict: Settled): void {
  const result = verdict === undefined ? 'failure' : 'user' in verdict ? 'success' : 'error'
  const name = verdict !== undefined && 'user' in verdict ? verdict.user.name : ''
  parts.instruments?.authenticated(result, name, parts.monotonicMs() - startedAt)
}

/** The credentials of a request, computed only when an authentication method needs them. */
class WireCredentials implements Credentials {
  readonly token: string | undefined
  readonly #exchange: Exchange
  readonly #wire: Wire

  constructor(exchange: Exchange) {
    const { wire } = exchange
    this.#exchange = exchange
    this.#wire = wire
    this.token = bearerToken(wire.headers.authorization)
  }

  get path() {
    return this.#exchange.target.path
  }

  get headers() {
    return this.#wire.separateHeaders
  }

  certificate() {
    return this.#wire.clientCertificate()?.leaf
  }

  intermediates() {
    return [...(this.#wire.clientCertificate()?.intermediates ?? [])]
  }
}
