/** Who asks: the first method that knows the credentials; nobody, if anonymous requests are allowed; else 401. */
import type { Credentials } from '#access/authenticate.ts'
import { bearerToken } from '#access/authenticate/bearer.ts'
import { unauthorized } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'

export function authenticate(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  const credentials = credentialsOf(exchange)
  const verdict = parts.authenticate(credentials)
  if (verdict instanceof Promise) {
    return verdict.then((settled) => settle(exchange, parts, settled))
  }
  settle(exchange, parts, verdict)
}

type Settled = Awaited<ReturnType<HttpParts['authenticate']>>

function settle(exchange: Exchange, parts: HttpParts, verdict: Settled): void {
  if (parts.instruments !== undefined) measure(exchange, parts, verdict)
  if (verdict === undefined || !('user' in verdict)) throw unauthorized(parts.challenge)
  exchange.user = verdict.user
  if (verdict.annotations === undefined) return
  for (const [name, value] of Object.entries(verdict.annotations)) {
    exchange.auditAnnotations.set(name, value)
  }
}

function measure({ startedAt }: Exchange, parts: HttpParts, verdict: Settled): void {
  const result = verdict === undefined ? 'failure' : 'user' in verdict ? 'success' : 'error'
  const name = verdict !== undefined && 'user' in verdict ? verdict.user.name : ''
  parts.instruments?.authenticated(result, name, parts.monotonicMs() - startedAt)
}

function credentialsOf({ wire }: Exchange): Credentials {
  return {
    get headers() {
      return wire.separateHeaders
    },
    token: bearerToken(wire.headers.authorization),
    certificate: () => wire.clientCertificate()?.leaf,
    intermediates: () => [...(wire.clientCertificate()?.intermediates ?? [])],
  }
}
