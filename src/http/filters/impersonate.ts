/** A request on behalf of somebody else: allowed piece by piece, then done as that user. */
import { shutOut } from '#access/forbidden.ts'
import { impersonation } from '#access/impersonate.ts'
import { loadLater } from '#base/load-later.ts'
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'

const loadRefusal = loadLater<typeof import('#http/refuse-in-text.ts')>(
  import.meta.url,
  '#http/refuse-in-text',
)

export function impersonate(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  const { headers } = exchange.wire
  for (const name in headers) {
    if (name.startsWith('impersonate-')) return become(exchange, parts)
  }
}

async function become(exchange: Exchange, parts: HttpParts): Promise<void> {
  const wanted = impersonation(exchange.wire.separateHeaders, exchange.user, parts.server.release)
  if (wanted === undefined) return
  if ('problem' in wanted) return loadRefusal().refuseInText(exchange, wanted.problem)
  for (const attributes of wanted.checks) {
    const { decision, reason } = await parts.authorizer.authorize(attributes)
    if (decision !== 'allow') throw shutOut(attributes, reason)
  }
  exchange.impersonator = exchange.user
  exchange.user = wanted.user
}
