/**
 * Annotations of the audit log with the time that the steps of a slow request took. Steps that this
 * server does not measure, such as requests to the store, have none.
 */
import { formatDuration } from '#api/duration.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { Exchange } from '#http/exchange.ts'

/** Requests that take at most this long have no annotations, as in kube-apiserver. */
const slowMs = 500

const annotatesSlow = change('the audit log has the duration of slow requests', { since: 24 })
const annotatesQueues = change('the audit log has the time that slow requests waited in queues', {
  since: 31,
})
const annotatesAccess = change(
  'the audit log has the durations of authentication and authorization of slow requests',
  { since: 33 },
)
const annotatesImpersonation = change(
  'the audit log has the duration of impersonation of slow requests',
  { since: 36 },
)

const prefix = 'apiserver.latency.k8s.io/'
const text = (ms: number) => formatDuration(BigInt(Math.round(ms * 1e6)))

/** `tookMs` is the duration of the whole request. */
export function annotateLatency(exchange: Exchange, tookMs: number, release: Release): void {
  if (tookMs <= slowMs || !release.has(annotatesSlow)) return
  const { auditAnnotations } = exchange
  auditAnnotations.set(`${prefix}total`, text(tookMs))
  for (const [name, ms, since] of [
    ['apf-queue-wait', exchange.queuedMs, annotatesQueues],
    ['authentication', exchange.authenticationMs, annotatesAccess],
    ['authorization', exchange.authorizationMs, annotatesAccess],
    ['impersonation', exchange.impersonationMs, annotatesImpersonation],
  ] as const)
    if (ms > 0 && release.has(since)) auditAnnotations.set(`${prefix}${name}`, text(ms))
}
