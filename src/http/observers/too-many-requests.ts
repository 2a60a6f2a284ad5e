/** Rejects a request because too many are running, and counts the rejection. */
import { type ApiError, tooManyRequests } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import { requestKind } from './in-flight-mark.ts'
import { reportedVerb, scopeOf } from './request-place.ts'

const retryAfterSeconds = 1
/**
 * The maximum length of a recorded name. A rejected request may contain any name, and counted names
 * stay in memory. Every served name is shorter.
 */
const nameLengthMax = 256
const shortName = (name: string): string => (name.length > nameLengthMax ? 'unexpected' : name)

export function rejectForNow(exchange: Exchange, metrics: ServerMetrics): ApiError {
  const { target } = exchange
  const { group, version, resource, subresource, path, isResource } = target
  metrics.dropped.labels(requestKind(target.verb)).add(1)
  const scope = scopeOf(target)
  const place = isResource ? [group, version, resource, subresource] : ['', '', '', path]
  metrics.terminated
    .labels(reportedVerb(exchange, scope), ...place.map(shortName), scope, 'apiserver', '429')
    .add(1)
  return tooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
}
