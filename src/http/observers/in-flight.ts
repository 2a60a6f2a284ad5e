/**
 * Limits the number of concurrent reads and writes; further requests are rejected with a
 * Retry-After. Watches and other long-running requests are not counted, and privileged users are
 * never rejected. Used if priority and fairness is disabled.
 */
import { isPrivileged } from '#access/user.ts'
import type { Exchange, Seat } from '#http/exchange.ts'
import type { Observer } from '#http/parts.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import { type InFlightMark, type RequestKind, requestKind } from './in-flight-mark.ts'
import { rejectForNow } from './too-many-requests.ts'
import { isLongRunning } from './request-place.ts'

export interface InFlightLimits {
  /** The limits; 0 means no limit. */
  readonly readOnly: number
  readonly mutating: number
}

export function inFlightObserver(
  limits: InFlightLimits,
  mark: InFlightMark,
  metrics: ServerMetrics,
  monotonicMs: () => number,
): Observer {
  const seatOf = (kind: RequestKind): Seat => {
    let taken = true
    return {
      headers: undefined,
      release() {
        if (!taken) return
        taken = false
        mark.add(kind, -1, monotonicMs())
      },
    }
  }
  return {
    begin(exchange: Exchange) {
      if (isLongRunning(exchange.target)) return
      const kind = requestKind(exchange.target.verb)
      const limit = limits[kind]
      if (limit === 0) return
      if (mark.of(kind) >= limit) {
        if (isPrivileged(exchange.user)) return
        throw rejectForNow(exchange, metrics)
      }
      mark.add(kind, 1, exchange.startedAt)
      exchange.seat = seatOf(kind)
    },
    end: (exchange) => exchange.seat?.release(),
  }
}
