/**
 * Starts audit, fairness and metrics for the request, because its user and target are now known.
 */
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'

export function observe(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  let waiting: Promise<void> | undefined
  for (const { begin } of parts.observers) {
    if (begin === undefined) continue
    if (waiting !== undefined) waiting = waiting.then(() => begin(exchange))
    else waiting = begin(exchange) ?? undefined
  }
  return waiting
}
