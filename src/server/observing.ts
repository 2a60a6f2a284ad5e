/**
 * Creates the parts that observe requests without answering them, from the settings: metrics,
 * limits, fairness, audit.
 */
import { hostname } from 'node:os'
import type { TokenUse } from '#access/authenticate/token-uses.ts'
import type { ConditionMeter } from '#access/authorize/webhook.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { VersionInfo } from '#discovery/version.ts'
import type { AdmissionMeter } from '#admission/chain.ts'
import type { PolicyMeter } from '#admission/policy/policy-meter.ts'
import { type TimerClock, timerMsMax } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient } from '#client/client.ts'
import type { QueueMeter } from '#client/work-queue.ts'
import type { BuildMeter } from '#http/aggregation/remote-documents.ts'
import { fairnessObserver } from '#http/observers/fairness.ts'
import { consumerManager } from '#http/observers/dangling-schemas.ts'
import {
  type FollowedFairness,
  flowGroup,
  followFairness,
} from '#http/observers/fairness-config.ts'
import { ensureFairnessObjects, producerManager } from '#http/observers/fairness-objects.ts'
import { inFlightObserver } from '#http/observers/in-flight.ts'
import { InFlightMark } from '#http/observers/in-flight-mark.ts'
import { requestLog } from '#http/observers/request-log.ts'
import type { Instruments, Observer, PathHandler } from '#http/parts.ts'
import { debugFairnessPaths } from '#http/paths/debug-fairness.ts'
import { metricsPath } from '#http/paths/metrics.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { FeatureGates } from '#kinds/feature-gates.ts'
import type { RuleTimer } from '#kinds/custom/rules/rule-timer.ts'
import { FlowControl } from '#observe/fairness/flow-control.ts'
import { flowMeters } from '#observe/fairness/flow-meters.ts'
import type { Log } from '#observe/log.ts'
import { queueMeters } from '#observe/metrics/queue-metrics.ts'
import type { DefinitionsParts } from '#verbs/custom-resources/definitions.ts'
import type { Server } from '#verbs/server.ts'
import type { ParseStored } from '#watchcache/entry.ts'
import type { Settings } from '#settings/flags.ts'
import { historyEventsMax } from './foundation.ts'
import {
  countObjects,
  deleteMetricsOfRemovedKinds,
  makeRecorders,
  measureSizes,
  type Recorders,
} from './recorders.ts'
import { type OperationMeter, operationMeter } from './operation-metrics.ts'
import { measureAvailability, measureStore, measureUnnamed } from './store-meter.ts'

const loadDuration = loadLater<
  typeof import('#kinds/certificates/certificate-signing-request/requested-duration.ts')
>(import.meta.url, '#kinds/certificates/certificate-signing-request/requested-duration')
const loadIdentity = loadLater<typeof import('./identity-lease.ts')>(
  import.meta.url,
  './identity-lease',
)
const loadAudit = loadLater<typeof import('./audit.ts')>(import.meta.url, './audit')

export interface Observing {
  /** Deprecated metrics; each is logged once when the server is ready. */
  readonly deprecations: readonly string[]
  /** Whether priority and fairness queues requests. Otherwise requests are only counted. */
  readonly isFair: boolean
  /** The build information that the metrics report. */
  readonly build: VersionInfo
  readonly observers: readonly Observer[]
  readonly paths: readonly PathHandler[]
  readonly instruments: Instruments
  readonly admission: AdmissionMeter
  readonly policies: () => PolicyMeter
  readonly conditions: () => ConditionMeter
  readonly impersonations: Recorders['impersonations']
  readonly reloaded: Recorders['reloaded']
  readonly tokenUsed: (use: TokenUse) => void
  readonly timed: RuleTimer
  readonly operation: OperationMeter
  readonly handshakeFailed: () => void
  readonly documentBuilt: BuildMeter
  readonly statusWritten: NonNullable<Server['statusWritten']>
  readonly schemaPublished: DefinitionsParts['published']
  /** Measures the work queue of one controller. */
  readonly queueMeter: (name: string) => QueueMeter
  /**
   * Called when the server can read and write: watches the configuration of priority and fairness,
   * and creates mandatory objects.
   */
  start(server: Server, clientAs: (manager: string) => ApiClient): Promise<void>
  /** Resolves when background writes of the start are complete. */
  settled(): Promise<unknown>
  stop(): Promise<void>
}

export interface ObservingOptions {
  readonly release: number
  readonly build: VersionInfo
  readonly feature: (gate: string) => boolean
  readonly gates: () => FeatureGates['known']
  readonly log: Log
  readonly clock: TimerClock
  readonly random: Random
  /** Called with the first request. */
  readonly parseStored: () => ParseStored
}

const monotonicMs = () => performance.now()
/** A request may wait in a queue for a quarter of its timeout. */
const waitShare = 4
/** How often mandatory and suggested objects are restored. */
const ensureIntervalMs = 60_000

const recordersFor = (
  settings: Settings,
  { release, build, gates, feature, clock }: ObservingOptions,
  deprecations: string[],
) =>
  makeRecorders({
    release,
    build,
    gates,
    serverId: () =>
      feature('APIServerIdentity') ? loadIdentity().identityOf(hostname(), releaseOf(release)) : '',
    nowMs: () => clock.now(),
    showHiddenMetricsForVersion: settings.showHiddenMetricsForVersion,
    disabled: settings.disabledMetrics,
    allowed: settings.allowMetricLabels,
    warn: (message) => deprecations.push(message),
  })

/** `problem` if the operator's settings cannot be met. */
export async function makeObserving(
  settings: Settings,
  options: ObservingOptions,
): Promise<Observing | { problem: string }> {
  const { build, feature, log, clock, random, parseStored } = options
  const deprecations: string[] = []
  const recorders = recordersFor(settings, options, deprecations)
  if ('problem' in recorders) return recorders
  const isFair = settings.enablePriorityAndFairness && feature('APIPriorityAndFairness')
  const limiting = isFair
    ? makeFairness(settings, options, recorders)
    : makeLimits(settings, recorders)
  if ('problem' in limiting) return limiting
  const { metrics } = recorders
  const operation = operationMeter(recorders)
  let served: Catalog | undefined
  const makeAudit = recordsAudit(settings) ? loadAudit().makeAudit : undefined
  const audit = await makeAudit?.(settings, { metrics, parseStored, log, clock, random })
  if (audit !== undefined && 'problem' in audit) return audit
  return {
    isFair,
    deprecations,
    build,
    // The audit recorder is first, so that it also sees requests that other observers reject.
    observers: [
      ...(audit === undefined ? [] : [audit.observer]),
      recorders.observer,
      limiting.observer,
      requestLog(log, monotonicMs),
    ],
    paths: [metricsPath(recorders.registry), ...limiting.paths],
    instruments: recorders.instruments,
    admission: recorders.admission,
    policies: recorders.policies,
    conditions: recorders.conditions,
    impersonations: recorders.impersonations,
    reloaded: recorders.reloaded,
    tokenUsed: recorders.tokenUsed,
    timed: recorders.timed,
    operation,
    handshakeFailed: () => metrics.tlsHandshakeErrors.add(1),
    schemaPublished(name, reason, resource) {
      metrics.customSchemas.labels(name, reason).add(1)
      const isServed = () => served?.resource(resource.group, resource.plural) !== undefined
      if (reason === 'remove') deleteMetricsOfRemovedKinds(recorders, resource, isServed)
    },
    statusWritten: statusMeter(recorders, feature('CSRDuration')),
    documentBuilt: documentMeter(recorders),
    queueMeter: queueMeters(recorders.registry),
    async start(server, clientAs) {
      const { catalog, cache, storage } = server
      served = catalog
      const historyMax = historyEventsMax(settings)
      const intervalMs = settings.etcdCountMetricPollPeriodMs
      countObjects(recorders, { catalog, cache, storage, historyMax, intervalMs })
      measureSizes(recorders, storage, settings.etcdDbMetricPollIntervalMs)
      measureStore(recorders, storage, catalog, settings.etcdPrefix)
      await measureAvailability(recorders, server.reader)
      measureUnnamed(recorders)
      operation.follow(storage, settings)
      await limiting.start(server, clientAs)
    },
    settled: () => limiting.settled(),
    async stop() {
      limiting.stop()
      await audit?.close()
    },
  }
}

const recordsAudit = ({ auditPolicyFile, auditLogPath, auditWebhookConfigFile }: Settings) =>
  (auditPolicyFile ?? auditLogPath ?? auditWebhookConfigFile) !== undefined

const documentMeter =
  ({ metrics }: Recorders): Observing['documentBuilt'] =>
  (apiService, reason, seconds) => {
    metrics.openApiBuilds.labels(apiService, reason).add(1)
    metrics.openApiBuildDuration.labels(reason).set(seconds)
  }

/** Counts issued certificates and those whose requested duration was honoured. */
const statusMeter =
  ({ metrics }: Recorders, knowsDuration: boolean): Observing['statusWritten'] =>
  ({ group, plural }, next, old) => {
    if (group !== 'certificates.k8s.io' || plural !== 'certificatesigningrequests') return
    const issued = knowsDuration ? loadDuration().requestedDuration(next, old) : undefined
    if (issued === undefined) return
    metrics.requestedDurations.labels(issued.signer).add(1)
    if (issued.honored) metrics.honoredDurations.labels(issued.signer).add(1)
  }

interface Limiting {
  readonly observer: Observer
  readonly paths: readonly PathHandler[]
  start(server: Server, clientAs: (manager: string) => ApiClient): Promise<void>
  settled(): Promise<unknown>
  stop(): void
}

function makeLimits(settings: Settings, { registry, metrics }: Recorders): Limiting {
  const limits = {
    readOnly: settings.maxRequestsInflight,
    mutating: settings.maxMutatingRequestsInflight,
  }
  const mark = new InFlightMark(registry, metrics.inFlight)
  return {
    observer: inFlightObserver(limits, mark, metrics, monotonicMs),
    paths: [],
    start: async () => {},
    settled: async () => {},
    stop() {},
  }
}

function makeFairness(
  settings: Settings,
  { release, log, clock }: ObservingOptions,
  { registry, metrics }: Recorders,
): Limiting | { problem: string } {
  const { maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = settings
  if (reads + writes <= 0) {
    const given = `MaxRequestsInFlight=${reads} and MaxMutatingRequestsInFlight=${writes}`
    return { problem: `invalid configuration: ${given}; they must add up to something positive` }
  }
  const flows = new FlowControl({
    release,
    concurrencyMax: reads + writes,
    waitMsMax: settings.requestTimeoutMs / waitShare,
    after(ms, call) {
      const timer = setTimeout(call, Math.min(ms, timerMsMax))
      return () => clearTimeout(timer)
    },
    meters: flowMeters(registry, release),
    report: (message) => log.warn(message),
  })
  const running = new InFlightMark(registry, metrics.inFlight)
  const waiting = new InFlightMark(registry, metrics.inQueue)
  const stops: (() => void)[] = []
  let followed: FollowedFairness | undefined
  return {
    observer: fairnessObserver({ flows, running, waiting, metrics, monotonicMs }),
    paths: [debugFairnessPaths(flows, (ms) => performance.timeOrigin + ms)],
    async start(server, clientAs) {
      // The levels have the fields of their stored version.
      const kind = server.catalog.resource(flowGroup, 'prioritylevelconfigurations')?.hub
      if (kind === undefined) return
      const { group, version } = kind
      const schemas = { group, version, plural: 'flowschemas' }
      const levels = { group, version, plural: 'prioritylevelconfigurations' }
      const report = (message: string, error: unknown) => log.error(message, { error })
      const client = clientAs(consumerManager)
      const producer = clientAs(producerManager)
      const ensure = () => ensureFairnessObjects(producer, { release, levels, schemas })
      // First, because a schema that is seen before its level would be reported as having none.
      await ensure()
      followed = await followFairness({
        flows,
        reader: server.reader,
        client,
        schemas,
        release,
        clock,
        monotonicMs,
        report,
      })
      stops.push(followed.stop)
      const timer = setInterval(() => {
        ensure().catch((error) =>
          report('the flow schemas and priority levels could not be restored', error),
        )
      }, ensureIntervalMs)
      timer.unref()
      stops.push(() => clearInterval(timer))
    },
    settled: () => followed?.settled ?? Promise.resolve(),
    stop() {
      for (const stop of stops) stop()
    },
  }
}
