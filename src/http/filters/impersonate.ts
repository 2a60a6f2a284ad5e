/**
 * Impersonation: checks that the user may impersonate each part of the requested user, then
 * continues the request as that user.
 */
import type { ConstrainedImpersonation } from '#access/constrained-impersonation.ts'
import { earlyForbidden } from '#access/forbidden.ts'
import { impersonation } from '#access/impersonate.ts'
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'
import { requestAttributes } from './authorize.ts'

export function impersonate(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  const { headers } = exchange.wire
  for (const name in headers) {
    if (!name.startsWith('impersonate-')) continue
    return parts.constrainedImpersonation === undefined
      ? become(exchange, parts)
      : becomeConstrained(exchange, parts, parts.constrainedImpersonation())
  }
}

async function become(exchange: Exchange, parts: HttpParts): Promise<void> {
  const wanted = impersonation(exchange.wire.separateHeaders, exchange.user, parts.server.release)
  if (wanted === undefined) return
  for (const attributes of wanted.checks) {
    const { decision, reason } = await parts.authorizer.authorize(attributes)
    if (decision !== 'allow') throw earlyForbidden(attributes, reason)
  }
  exchange.impersonator = exchange.user
  exchange.user = wanted.user
}

async function becomeConstrained(
  exchange: Exchange,
  parts: HttpParts,
  impersonation: ConstrainedImpersonation,
): Promise<void> {
  const { separateHeaders } = exchange.wire
  const beganAt = parts.monotonicMs()
  const allowed = await impersonation
    .of(separateHeaders, requestAttributes(exchange, parts))
    .finally(() => {
      exchange.impersonationMs = parts.monotonicMs() - beganAt
    })
  if (allowed === undefined) return
  exchange.impersonator = exchange.user
  exchange.user = allowed.user
  exchange.impersonationConstraint = allowed.constraint
}
