/**
 * Creates the metrics registry and the recorders of metrics, once at the start of the server: for
 * requests, admission, policies, tokens and rules.
 */
import type { TokenUse } from '#access/authenticate/token-uses.ts'
import type { ImpersonationMeter } from '#access/constrained-impersonation.ts'
import type { AccessSurroundings } from '#access/settings.ts'
import type { ConditionMeter } from '#access/authorize/webhook.ts'
import type { VersionInfo } from '#discovery/version.ts'
import { change } from '#api/releases/change.ts'
import { qualified } from '#api/status-error.ts'
import type { AdmissionMeter } from '#admission/chain.ts'
import { admissionMeter } from '#admission/admission-meter.ts'
import type { PolicyMeter } from '#admission/policy/policy-meter.ts'
import { instruments } from '#http/observers/instruments.ts'
import { MetricsObserver } from '#http/observers/metrics.ts'
import type { Instruments } from '#http/parts.ts'
import { loadLater } from '#base/load-later.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { RuleTimer } from '#kinds/custom/rules/rule-timer.ts'
import type { FeatureGates } from '#kinds/feature-gates.ts'
import type { Resource } from '#kinds/kind.ts'
import { showHiddenProblem } from '#observe/metrics/life-cycle.ts'
import { gauge } from '#observe/metrics/metric.ts'
import { Registry, type RegistryOptions } from '#observe/metrics/registry.ts'
import { type ServerMetrics, serverMetrics } from '#observe/metrics/server-metrics.ts'
import { prefixRange, type Storage } from '#storage/storage.ts'
import type { WatchCache } from '#watchcache/watch-cache.ts'

const loadPolicyMeter = loadLater<typeof import('#admission/policy/policy-meter.ts')>(
  import.meta.url,
  '#admission/policy/policy-meter',
)
const loadPolicyMetrics = loadLater<typeof import('#observe/metrics/policy-metrics.ts')>(
  import.meta.url,
  '#observe/metrics/policy-metrics',
)
const loadProcessMetrics = loadLater<typeof import('#observe/metrics/process-metrics.ts')>(
  import.meta.url,
  '#observe/metrics/process-metrics',
)
const loadFeatureMetrics = loadLater<typeof import('#observe/metrics/feature-metrics.ts')>(
  import.meta.url,
  '#observe/metrics/feature-metrics',
)
const loadImpersonationMetrics = loadLater<
  typeof import('#observe/metrics/impersonation-metrics.ts')
>(import.meta.url, '#observe/metrics/impersonation-metrics')
const loadReloadMetrics = loadLater<typeof import('#observe/metrics/reload-metrics.ts')>(
  import.meta.url,
  '#observe/metrics/reload-metrics',
)
const loadTokenMetrics = loadLater<typeof import('#observe/metrics/token-metrics.ts')>(
  import.meta.url,
  '#observe/metrics/token-metrics',
)

const buildIsBeta = change('the metric kubernetes_build_info is BETA', { since: 36 })

export interface Recorders {
  readonly registry: Registry
  readonly metrics: ServerMetrics
  readonly observer: MetricsObserver
  readonly instruments: Instruments
  readonly admission: AdmissionMeter
  /** Created on first use. */
  readonly conditions: () => ConditionMeter
  /** Created on first use. */
  readonly impersonations: () => ImpersonationMeter
  readonly reloaded: NonNullable<AccessSurroundings['reloaded']>
  readonly tokenUsed: (use: TokenUse) => void
  /** Created on first use. */
  readonly policies: () => PolicyMeter
  readonly timed: RuleTimer
}

export interface RecordersOptions {
  readonly release: number
  readonly build: VersionInfo
  /** Called with the first scrape. */
  readonly gates: () => FeatureGates['known']
  /** The identity of the API server; empty if it has none. */
  readonly serverId: () => string
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  readonly showHiddenMetricsForVersion: string | undefined
  readonly disabled: readonly string[]
  readonly allowed: RegistryOptions['allowed']
  readonly warn: (message: string) => void
}

const monotonicMs = () => performance.now()

/** `problem`: why showHiddenMetricsForVersion is not valid for the release. */
export function makeRecorders(options: RecordersOptions): Recorders | { problem: string } {
  const { release, build, warn, showHiddenMetricsForVersion: hidden } = options
  const problem = hidden === undefined ? undefined : showHiddenProblem(hidden, release)
  if (problem !== undefined) return { problem }
  const registry = new Registry({
    release,
    showHidden: hidden !== undefined,
    disabled: new Set(options.disabled),
    allowed: options.allowed,
    warn,
  })
  const metrics = serverMetrics(registry, release)
  const tokenUsed = tokenCounter(registry)
  let policies: PolicyMeter | undefined
  let conditions: ConditionMeter | undefined
  measureProcess(registry)
  measureGates(registry, options.gates)
  const labels: [label: string, value: string][] = [
    ['major', build.major],
    ['minor', build.minor],
    ['git_version', build.gitVersion],
    ['git_commit', build.gitCommit],
    ['git_tree_state', build.gitTreeState],
    ['build_date', build.buildDate],
    ['go_version', build.goVersion],
    ['compiler', build.compiler],
    ['platform', build.platform],
  ]
  const names = labels.map(([label]) => label)
  registry
    .register(gauge('kubernetes_build_info', ...names), 'What this server is: always 1.', {
      stability: 'ALPHA',
      beta: buildIsBeta,
    })
    .labels(...labels.map(([, value]) => value))
    .set(1)
  return {
    registry,
    metrics,
    observer: new MetricsObserver(metrics, monotonicMs),
    instruments: instruments(metrics),
    admission: admissionMeter(metrics, monotonicMs),
    timed: ruleTimer(metrics, monotonicMs),
    tokenUsed,
    impersonations: () => ({
      monotonicMs,
      ...loadImpersonationMetrics().impersonationMetrics(registry),
    }),
    reloaded: (configuration) =>
      loadReloadMetrics().reloadMeter(registry, configuration, options.serverId(), options.nowMs),
    conditions: () => (conditions ??= conditionMeter(registry)),
    policies: () => (policies ??= loadPolicyMeter().policyMeter(registry, release, monotonicMs)),
  }
}

/** Measures the process from the first scrape on. */
function measureProcess(registry: Registry): void {
  let measure: (() => void) | undefined
  registry.collect(() => {
    measure ??= loadProcessMetrics().processMeter(registry)
    measure()
  })
}

/** Feature gates do not change, so they are read once. */
function measureGates(registry: Registry, gates: RecordersOptions['gates']): void {
  let isMeasured = false
  registry.collect(() => {
    if (isMeasured) return
    isMeasured = true
    loadFeatureMetrics().featureMetrics(registry, gates())
  })
}

/** Counts uses of tokens. The counters are made with the first use or the first scrape. */
function tokenCounter(registry: Registry): (use: TokenUse) => void {
  let counts: Record<TokenUse, { add(amount: number): void }> | undefined
  const made = () => (counts ??= loadTokenMetrics().tokenMetrics(registry))
  registry.collect(() => void made())
  return (use) => made()[use].add(1)
}

/** Measures match conditions of authorization webhooks. */
function conditionMeter(registry: Registry): ConditionMeter {
  const { errors, exclusions, durations } = loadPolicyMetrics().accessConditionMetrics(registry)
  return {
    monotonicMs,
    evaluated(name, tookMs, failed, excludes) {
      durations.labels('Webhook', name).observe(tookMs / 1000)
      if (failed) errors.labels('Webhook', name).add(1)
      if (excludes) exclusions.labels('Webhook', name).add(1)
    },
  }
}

/** Measures steps of validation rules, also those that throw. */
export const ruleTimer =
  ({ ruleDurations }: Pick<ServerMetrics, 'ruleDurations'>, nowMs: () => number): RuleTimer =>
  (step, run) => {
    const began = nowMs()
    try {
      return run()
    } finally {
      ruleDurations[step].observe((nowMs() - began) / 1000)
    }
  }

/**
 * How long the metrics of a deleted custom kind are kept. Requests in progress are counted when
 * they end, which would create the metrics again. Most requests end within this time.
 */
const metricsKeptMs = 60_000

/**
 * Deletes the metrics of kinds that are no longer served, because definitions can be created and
 * deleted at any time.
 */
export function deleteMetricsOfRemovedKinds(
  { registry }: Pick<Recorders, 'registry'>,
  resource: Resource,
  isServed: () => boolean,
): void {
  const { group, plural, kinds } = resource
  const forget = () => {
    if (isServed()) return
    registry.forget({ resource: qualified(plural, group) })
    registry.forget({ group, resource: plural })
    for (const { version, kind } of kinds) registry.forget({ group, version, kind })
  }
  setTimeout(forget, metricsKeptMs).unref()
}

const nameOf = ({ group, plural }: Resource) => qualified(plural, group)

/**
 * Metrics of the number of objects of each resource: from the watch cache if possible, otherwise
 * periodically from the store.
 */
export function countObjects(
  { registry, metrics }: Recorders,
  parts: {
    catalog: Catalog
    cache: WatchCache
    storage: Storage
    historyMax: (resource: Resource) => number
    /** The minimum time between two queries of the store; with 0, nothing is counted. */
    intervalMs: number
  },
): void {
  let countedAt = Number.NEGATIVE_INFINITY
  const show = (resource: Resource, count: number) => {
    if (parts.intervalMs === 0) return
    const name = nameOf(resource)
    metrics.objectsByGroup.labels(resource.group, resource.plural).set(count)
    metrics.objects.labels(name).set(count)
    metrics.objectsBefore.labels(name).set(count)
  }
  registry.collect(async () => {
    const loaded = new Set<Resource>()
    for (const cache of parts.cache.loaded()) {
      loaded.add(cache.resource)
      show(cache.resource, cache.size)
      metrics.watchCacheCapacity
        .labels(...metrics.resourceLabels(cache.resource.group, cache.resource.plural))
        .set(parts.historyMax(cache.resource))
    }
    if (parts.intervalMs === 0 || monotonicMs() - countedAt < parts.intervalMs) return
    countedAt = monotonicMs()
    for (const resource of parts.catalog.resources()) {
      if (loaded.has(resource) || resource.storagePrefix === '') continue
      show(resource, (await parts.storage.count(prefixRange(`${resource.storagePrefix}/`))).value)
    }
  })
}

/** kube-apiserver numbers the etcd clusters that it uses. */
const ownClusterId = 'etcd-0'

/** The size of etcd's files. It is queried when metrics are scraped, at most once per interval. */
export function measureSizes(
  { registry, metrics }: Recorders,
  storage: Storage,
  intervalMs: number,
): void {
  if (intervalMs === 0) return
  let queriedAt = Number.NEGATIVE_INFINITY
  registry.collect(async () => {
    if (monotonicMs() - queriedAt < intervalMs) return
    queriedAt = monotonicMs()
    const sizes = [...((await storage.sizes?.()) ?? [])]
    for (const [name, bytes] of sizes) metrics.storeSizes.labels(name).set(bytes)
    if (sizes.length > 0) metrics.clusterSizes.labels(ownClusterId).set(sizes[0]![1])
  })
}
