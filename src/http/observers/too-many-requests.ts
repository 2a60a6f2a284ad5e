/** The refusal of a request that is one too many, and its counters. */
import { type ApiError, tooManyRequests } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import { requestKind } from './in-flight-mark.ts'
import { reportedVerb, scopeOf } from './request-place.ts'

const retryAfterSeconds = 1
/**
 * Longest recorded name. A rejected request may name anything, and counted names are kept. This is
 * more than any served name has, and too little to fill the memory.
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
