/** Who asks: the first method that knows the credentials; nobody, if anonymous requests are allowed; else 401. */
import { X509Certificate } from 'node:crypto'
import type { Credentials } from '#access/authenticate.ts'
import { anonymous } from '#access/user.ts'
import { unauthorized } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'

export function authenticate(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  const credentials = credentialsOf(exchange)
  const verdict = parts.authenticate(credentials)
  if (verdict instanceof Promise) {
    return verdict.then((settled) => settle(exchange, parts, settled, credentials))
  }
  settle(exchange, parts, verdict, credentials)
}

type Settled = Awaited<ReturnType<HttpParts['authenticate']>>

function settle(
  exchange: Exchange,
  parts: HttpParts,
  verdict: Settled,
  credentials: Credentials,
): void {
  if (verdict !== undefined && 'user' in verdict) exchange.user = verdict.user
  else if (verdict !== undefined || credentials.token !== undefined || !parts.anonymousAllowed) {
    throw unauthorized()
  } else exchange.user = anonymous
}

function credentialsOf({ wire }: Exchange): Credentials {
  const { headers, clientCertificate } = wire
  let parsed: X509Certificate | undefined
  return {
    headers,
    token: bearerOf(headers.authorization),
    certificate:
      clientCertificate &&
      (() => {
        if (parsed === undefined) {
          const der = clientCertificate()
          if (der === undefined) return undefined
          parsed = new X509Certificate(der)
        }
        return parsed
      }),
  }
}

/** The token of `Authorization: Bearer …`; other schemes are other methods' business. */
function bearerOf(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const match = /^bearer +(\S+)\s*$/i.exec(header)
  return match?.[1]
}
