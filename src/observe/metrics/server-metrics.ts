/**
 * The metrics of the API server, with the names, labels and buckets of kube-apiserver, which
 * dashboards and alerts use. This file has only definitions; each observation is documented in the
 * code that makes it.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { alias, counter, exponentialBounds, gauge, histogram } from './metric.ts'
import type { Registry } from './registry.ts'
import {
  durationBoundsOf25,
  labelsNameGroups,
  longRunningIsRenamed,
  namesUntil24,
  resourceMetrics,
} from './resource-metrics.ts'

/** Request durations in seconds: fine around the service levels of a cluster, coarse above. */
const durationBoundsUntil22 = [
  0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
const durationBoundsOf23 = durationBoundsOf25.slice(2)
const filterBounds = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5]
const admissionBounds = [0.005, 0.025, 0.1, 0.5, 2.5]
const admissionBoundsOf23 = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
/** The buckets of metrics that declare none. */
const usualBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const alpha = { stability: 'ALPHA' } as const
const latenciesAreStable = change('metrics of request counts and durations are STABLE', {
  since: 21,
})
const stableFrom21 = { stability: 'ALPHA', stable: latenciesAreStable } as const
const deprecatedApisAreStable = change('the metric apiserver_requested_deprecated_apis is STABLE', {
  since: 22,
})
const moreAreStable = change(
  'metrics of admission, response sizes and requests in flight are STABLE',
  { since: 23 },
)
const stableFrom23 = { stability: 'ALPHA', stable: moreAreStable } as const
const longRunningIsStable = change('the metric apiserver_longrunning_requests is STABLE', {
  since: 25,
})
const droppedIsDeprecated = change('the metric apiserver_dropped_requests_total is deprecated', {
  since: 24,
})
const namesOfWebhooksAreBeta = change(
  'the metric apiserver_webhooks_x509_missing_san_total is BETA',
  { since: 37 },
)
const fewerDurations = change('metrics of request durations have fewer buckets', { since: 23 })
const shortDurations = change('the metric of request durations has buckets below 50 ms', {
  since: 25,
})
const longWebhooks = change('the metric of webhook durations has buckets up to 25 s', { since: 27 })
const longFilters = change('metrics of filters and of queued requests have a bucket of 15 s', {
  since: 28,
})
const place = ['group', 'version', 'resource', 'subresource', 'scope', 'component']

const kindLabels = change('metrics have the label request_kind, not requestKind', { since: 19 })
const requestsByClient = change('apiserver_request_total has the label client', { until: 17 })
const requestsByType = change('apiserver_request_total has the label contentType', { until: 20 })
const lostServicesTotal = change(
  'a metric counts lost APIServices under a name that ends in total',
  {
    since: 18,
  },
)
const metricsOf16 = change('metrics measure OpenAPI documents', { since: 16 })
const metricsOf19 = change(
  'metrics count waiting requests, deprecated APIs and failed TLS handshakes',
  { since: 19 },
)
const metricsOf20 = change('metrics measure filters and aborted requests', { since: 20 })
const metricsOf22 = change('metrics count certificates without names, and durations of requests', {
  since: 22,
})
const metricsOfRules = change('metrics time the compilation and evaluation of validation rules', {
  since: 25,
})

export type ServerMetrics = ReturnType<typeof serverMetrics>

export function serverMetrics(registry: Registry, release: number) {
  return {
    release,
    ...requestMetrics(registry, release),
    ...limitMetrics(registry, release),
    ...remoteMetrics(registry, release),
    ...accessMetrics(registry),
    ...resourceMetrics(registry, release),
    ...admissionMetrics(registry, release),
    ...auditMetrics(registry),
    ...ruleMetrics(registry),
  }
}

function durationBounds(release: number): readonly number[] {
  const { has } = releaseOf(release)
  if (has(shortDurations)) return durationBoundsOf25
  return has(fewerDurations) ? durationBoundsOf23 : durationBoundsUntil22
}

/** The bounds with those that 1.28 added. */
export const withLongBounds = (
  bounds: readonly number[],
  added: readonly number[],
  release: number,
): readonly number[] =>
  releaseOf(release).has(longFilters) ? [...bounds, ...added].sort((a, b) => a - b) : bounds

function requestMetrics(registry: Registry, release: number) {
  const older = [
    ...(releaseOf(release).has(requestsByClient) ? ['client'] : []),
    ...(releaseOf(release).has(requestsByType) ? ['contentType'] : []),
  ]
  const bounds = durationBounds(release)
  const longRunning = registry.register(
    gauge('apiserver_longrunning_requests', 'verb', ...place),
    'Requests that run until their client leaves: watches, logs, exec, proxies.',
    { stability: 'ALPHA', stable: longRunningIsStable, only: longRunningIsRenamed },
  )
  registry.register(
    alias('apiserver_longrunning_gauge', longRunning),
    'Requests that run until their client leaves: watches, logs, exec, proxies.',
    {
      ...alpha,
      only: namesUntil24,
      deprecated: longRunningIsRenamed,
      replacedBy: longRunning.name,
    },
  )
  return {
    requests: registry.register(
      counter('apiserver_request_total', 'verb', 'dry_run', ...place, ...older, 'code'),
      'Requests by verb, dry run, group, version, resource, scope, component and the status they were answered with.',
      stableFrom21,
    ),
    /** The labels that this release has between `component` and `code`, with empty values. */
    olderRequestLabels: older.map(() => ''),
    durations: registry.register(
      histogram('apiserver_request_duration_seconds', bounds, 'verb', 'dry_run', ...place),
      'How long answers took, in seconds.',
      stableFrom21,
    ),
    answerSizes: registry.register(
      histogram('apiserver_response_sizes', exponentialBounds(1000, 10, 7), 'verb', ...place),
      'Sizes of answers to reads, in bytes.',
      stableFrom23,
    ),
    longRunning,
    deprecated: registry.register(
      gauge(
        'apiserver_requested_deprecated_apis',
        'group',
        'version',
        'resource',
        'subresource',
        'removed_release',
      ),
      'Deprecated APIs that have been requested, with the release that removes them.',
      { stability: 'ALPHA', stable: deprecatedApisAreStable, only: metricsOf19 },
    ),
  }
}

/** Metrics of requests that were limited, ended early or failed. */
function limitMetrics(registry: Registry, release: number) {
  const kindLabel = releaseOf(release).has(kindLabels) ? 'request_kind' : 'requestKind'
  return {
    inFlight: registry.register(
      gauge('apiserver_current_inflight_requests', kindLabel),
      'Most requests that ran at once during the last second.',
      stableFrom23,
    ),
    inQueue: registry.register(
      gauge('apiserver_current_inqueue_requests', kindLabel),
      'Most requests that waited at once during the last second.',
      { ...alpha, only: metricsOf19 },
    ),
    dropped: registry.register(
      counter('apiserver_dropped_requests_total', kindLabel),
      'Requests turned away to come back later.',
      { ...alpha, only: namesUntil24, deprecated: droppedIsDeprecated },
    ),
    terminated: registry.register(
      counter('apiserver_request_terminations_total', 'verb', ...place, 'code'),
      'Requests that the server ended to protect itself.',
      alpha,
    ),
    selfRequests: registry.register(
      counter(
        'apiserver_selfrequest_total',
        'verb',
        ...(releaseOf(release).has(labelsNameGroups) ? ['group'] : []),
        'resource',
        'subresource',
      ),
      'Requests that the server made to itself.',
      { ...alpha, only: metricsOf20 },
    ),
    aborted: registry.register(
      counter(
        'apiserver_request_aborts_total',
        'verb',
        'group',
        'version',
        'resource',
        'subresource',
        'scope',
      ),
      'Requests whose client left before the answer.',
      { ...alpha, only: metricsOf20 },
    ),
    tlsHandshakeErrors: registry
      .register(
        counter('apiserver_tls_handshake_errors_total'),
        'Connections that failed before they were secure.',
        { ...alpha, only: metricsOf19 },
      )
      .labels(),
    filterDurations: registry.register(
      histogram(
        'apiserver_request_filter_duration_seconds',
        withLongBounds(filterBounds, [10, 15, 30], release),
        'filter',
      ),
      'How long requests spent in authentication and authorization, in seconds.',
      { ...alpha, only: metricsOf20 },
    ),
  }
}

/** Metrics of calls to aggregated servers and webhooks. */
function remoteMetrics(registry: Registry, release: number) {
  return {
    unavailableServices: registry.register(
      gauge('aggregator_unavailable_apiservice', 'name'),
      'APIServices that cannot be reached: 1, or 0 where they can.',
      alpha,
    ),
    servicesLost: registry.register(
      counter(
        `aggregator_unavailable_apiservice_${releaseOf(release).has(lostServicesTotal) ? 'total' : 'count'}`,
        'name',
        'reason',
      ),
      'How often APIServices that could be reached no longer could, by the reason.',
      alpha,
    ),
    unnamedAggregated: registry
      .register(
        counter('apiserver_kube_aggregator_x509_missing_san_total'),
        'Requests to aggregated servers whose certificate has no alternative names.',
        { ...alpha, only: metricsOf22 },
      )
      .labels(),
    unnamedWebhooks: registry
      .register(
        counter('apiserver_webhooks_x509_missing_san_total'),
        'Requests to webhooks whose certificate has no alternative names.',
        { ...alpha, beta: namesOfWebhooksAreBeta, only: metricsOf22 },
      )
      .labels(),
    requestedDurations: registry.register(
      counter('apiserver_certificates_registry_csr_requested_duration_total', 'signerName'),
      'Certificates issued on requests that asked for a duration, by signer: those of Kubernetes, or other.',
      { ...alpha, only: metricsOf22 },
    ),
    honoredDurations: registry.register(
      counter('apiserver_certificates_registry_csr_honored_duration_total', 'signerName'),
      'Those of them that live about as long as was asked for.',
      { ...alpha, only: metricsOf22 },
    ),
    customSchemas: registry.register(
      counter('apiextensions_openapi_v2_regeneration_count', 'crd', 'reason'),
      'How often what OpenAPI says of custom kinds changed, by the definition and the reason.',
      { ...alpha, only: metricsOf16 },
    ),
    openApiBuilds: registry.register(
      counter('aggregator_openapi_v2_regeneration_count', 'apiservice', 'reason'),
      'How often the OpenAPI document was made anew, by the APIService it was for and the reason.',
      { ...alpha, only: metricsOf16 },
    ),
    openApiBuildDuration: registry.register(
      gauge('aggregator_openapi_v2_regeneration_duration', 'reason'),
      'How long that took the last time, in seconds.',
      { ...alpha, only: metricsOf16 },
    ),
  }
}

function accessMetrics(registry: Registry) {
  const bounds = exponentialBounds(0.001, 2, 15)
  return {
    users: registry.register(
      counter('authenticated_user_requests', 'username'),
      'Authenticated requests by what kind of name the user has.',
      alpha,
    ),
    authentications: registry.register(
      counter('authentication_attempts', 'result'),
      'Attempts to authenticate a request.',
      alpha,
    ),
    authenticationDurations: registry.register(
      histogram('authentication_duration_seconds', bounds, 'result'),
      'How long authentication took, in seconds.',
      alpha,
    ),
    authorizations: registry.register(
      counter('authorization_attempts_total', 'result'),
      'Decisions on whether a request is allowed.',
      alpha,
    ),
    authorizationDurations: registry.register(
      histogram('authorization_duration_seconds', bounds, 'result'),
      'How long these decisions took, in seconds.',
      alpha,
    ),
  }
}

function admissionMetrics(registry: Registry, release: number) {
  const { has } = releaseOf(release)
  const named = ['name', 'type', 'operation', 'rejected']
  const bounds = has(fewerDurations) ? admissionBoundsOf23 : admissionBounds
  const durations = (of: string, help: string, labels: readonly string[], added: number[] = []) =>
    registry.register(
      histogram(
        `apiserver_admission_${of}_admission_duration_seconds`,
        [...bounds, ...added],
        ...labels,
      ),
      help,
      stableFrom23,
    )
  return {
    admissionSteps: durations(
      'step',
      'How long all plugins of a step took, in seconds.',
      named.slice(1),
    ),
    admissionPlugins: durations('controller', 'How long one plugin took, in seconds.', named),
    admissionWebhooks: durations(
      'webhook',
      'How long one webhook took, in seconds.',
      named,
      has(longWebhooks) ? [10, 25] : [],
    ),
    webhookRejections: registry.register(
      counter(
        'apiserver_admission_webhook_rejection_count',
        'name',
        'type',
        'operation',
        'error_type',
        'rejection_code',
      ),
      'Requests that a webhook, or the call of one, refused.',
      alpha,
    ),
  }
}

function auditMetrics(registry: Registry) {
  return {
    auditEvents: registry
      .register(
        counter('apiserver_audit_event_total'),
        'Records made and given to the sinks.',
        alpha,
      )
      .labels(),
    auditErrors: registry.register(
      counter('apiserver_audit_error_total', 'plugin'),
      'Records lost, by sink.',
      alpha,
    ),
    auditLevels: registry.register(
      counter('apiserver_audit_level_total', 'level'),
      'Requests by audit level.',
      alpha,
    ),
    auditRejected: registry
      .register(
        counter('apiserver_audit_requests_rejected_total'),
        'Requests refused because they could not be recorded.',
        alpha,
      )
      .labels(),
  }
}

const rulesAreBeta = change('metrics of validation rules are BETA', { since: 31 })

function ruleMetrics(registry: Registry) {
  const life = { stability: 'ALPHA', beta: rulesAreBeta, only: metricsOfRules } as const
  const durations = (step: string, help: string) =>
    registry
      .register(histogram(`apiserver_cel_${step}_duration_seconds`, usualBounds), help, life)
      .labels()
  return {
    ruleDurations: {
      compilation: durations('compilation', 'How long validation rules took to compile.'),
      evaluation: durations('evaluation', 'How long the validation rules of a value took.'),
    },
  }
}
