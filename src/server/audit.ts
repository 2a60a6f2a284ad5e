/**
 * The audit log from the settings: its policy and its sinks. Without an audit flag nothing is
 * created.
 */
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { readFileSync } from 'node:fs'
import { caller } from '#access/https-call.ts'
import { readKubeconfig } from '#access/kubeconfig.ts'
import { type Clock, elapsedMs } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import { decodeYaml } from '#codec/yaml.ts'
import { auditObserver } from '#http/observers/audit.ts'
import type { Observer } from '#http/parts.ts'
import { eventJson, legacyLine } from '#observe/audit/event.ts'
import { BatchingSink } from '#observe/audit/batching-sink.ts'
import { BlockingSink } from '#observe/audit/blocking-sink.ts'
import { LogSink } from '#observe/audit/log-sink.ts'
import { type AuditVersion, auditVersionsOf, readPolicy } from '#observe/audit/policy.ts'
import type { AuditSink, Lost, RecordWriter } from '#observe/audit/sink.ts'
import { TruncatingSink } from '#observe/audit/truncating-sink.ts'
import { WebhookSink } from '#observe/audit/webhook-sink.ts'
import type { Log } from '#observe/log.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import type { ParseStored } from '#watchcache/entry.ts'
import { releaseNumber, type Settings } from '#settings/flags.ts'
import { rotationOf } from './audit-rotation.ts'

const auditsWatchStarts = change(
  'the audit log records the start of a watch as a stage of its own',
  { until: 15 },
  { since: 23 },
)

export interface Audit {
  readonly observer: Observer
  close(): Promise<void>
}

const megabyte = 1024 * 1024
const webhookTimeoutMs = 30_000
/** Number of concurrent batches. Lines of a file are written one batch at a time. */
const batchesUnderWayMax = { log: 1, webhook: 10 }

type SinkName = 'log' | 'webhook'

export async function makeAudit(
  settings: Settings,
  parts: {
    metrics: ServerMetrics
    parseStored: () => ParseStored
    log: Log
    clock: Clock
    random: Random
  },
): Promise<Audit | undefined | { problem: string }> {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = settings
  const { log, metrics, parseStored, clock } = parts
  const wrong = sinkNames.flatMap((name) => batchProblem(name, settings) ?? [])
  if (wrong.length > 0) return { problem: wrong.join('; ') }
  if (auditPolicyFile === undefined) {
    if (auditLogPath !== undefined || auditWebhookConfigFile !== undefined) {
      log.warn('no audit policy file is given: nothing is recorded')
    }
    return undefined
  }
  const { auditLogVersion, auditWebhookVersion } = settings
  const versions = [
    ...(auditLogPath === undefined ? [] : [auditLogVersion]),
    ...(auditWebhookConfigFile === undefined ? [] : [auditWebhookVersion]),
  ]
  const release = releaseOf(releaseNumber(settings.emulatedVersion))
  const unknown = versions.find((version) => !auditVersionsOf(release).includes(version))
  if (unknown !== undefined)
    return { problem: `invalid group version ${unknown}, allowed versions are ["audit.k8s.io/v1"]` }
  for (const version of versions)
    if (version !== 'audit.k8s.io/v1')
      log.warn(
        `"${version}" is deprecated and will be removed in a future release, use "audit.k8s.io/v1" instead`,
      )
  const policy = policyOf(auditPolicyFile, release)
  if ('problem' in policy) return policy
  const lost: Lost = (plugin, count, why) => {
    metrics.auditErrors.labels(plugin).add(count)
    log.error('records of the audit log are lost', { plugin, count, why })
  }
  let sinks: AuditSink[]
  try {
    sinks = [
      ...logSinks(settings, clock, lost),
      ...(await webhookSinks(settings, parts.random, lost)),
    ]
  } catch (error) {
    return { problem: (error as Error).message }
  }
  if (sinks.length === 0) return undefined
  const report = (message: string, error: unknown) => {
    metrics.auditErrors.labels('log').add(1)
    log.error(message, { error })
  }
  return {
    observer: auditObserver({
      policy,
      sinks,
      waits: sinkNames.some((name) => waits(manners[name](settings))),
      seesWatchesBegin: release.has(auditsWatchStarts),
      release,
      metrics,
      server: () => ({ parseStored: parseStored(), clock, release: release.minor }),
      now: () => performance.timeOrigin + performance.now(),
      monotonicMs: () => elapsedMs(clock),
      report,
    }),
    close: async () => void (await Promise.all(sinks.map((sink) => sink.close()))),
  }
}

function policyOf(file: string, release: Release) {
  try {
    const policy = readPolicy(decodeYaml(readFileSync(file)), release)
    return 'problems' in policy
      ? { problem: `loading audit policy file: ${policy.problems.join(', ')}: from file ${file}` }
      : policy
  } catch (error) {
    return { problem: `loading audit policy file: ${(error as Error).message}: from file ${file}` }
  }
}

const sinkNames: readonly SinkName[] = ['log', 'webhook']

interface Manner {
  /** Whether this sink is configured. */
  readonly isAsked: boolean
  readonly mode: 'batch' | 'blocking' | 'blocking-strict'
  readonly bufferMax: number
  readonly batchMax: number
  readonly waitMsMax: number
  readonly isThrottled: boolean
  readonly perSecond: number
  readonly burst: number
  readonly cuts: boolean
  readonly version: AuditVersion
  readonly eventBytesMax: number
  readonly batchBytesMax: number
}

const manners: Record<SinkName, (settings: Settings) => Manner> = {
  log: (settings) => ({
    isAsked: (settings.auditLogPath ?? '') !== '',
    mode: settings.auditLogMode,
    bufferMax: settings.auditLogBatchBufferSize,
    batchMax: settings.auditLogBatchMaxSize,
    waitMsMax: settings.auditLogBatchMaxWaitMs,
    isThrottled: settings.auditLogBatchThrottleEnable,
    perSecond: settings.auditLogBatchThrottleQps,
    burst: settings.auditLogBatchThrottleBurst,
    cuts: settings.auditLogTruncateEnabled,
    version: settings.auditLogVersion,
    eventBytesMax: settings.auditLogTruncateMaxEventSize,
    batchBytesMax: settings.auditLogTruncateMaxBatchSize,
  }),
  webhook: (settings) => ({
    isAsked: settings.auditWebhookConfigFile !== undefined,
    mode: settings.auditWebhookMode,
    bufferMax: settings.auditWebhookBatchBufferSize,
    batchMax: settings.auditWebhookBatchMaxSize,
    waitMsMax: settings.auditWebhookBatchMaxWaitMs,
    isThrottled: settings.auditWebhookBatchThrottleEnable,
    perSecond: settings.auditWebhookBatchThrottleQps,
    burst: settings.auditWebhookBatchThrottleBurst,
    cuts: settings.auditWebhookTruncateEnabled,
    version: settings.auditWebhookVersion,
    eventBytesMax: settings.auditWebhookTruncateMaxEventSize,
    batchBytesMax: settings.auditWebhookTruncateMaxBatchSize,
  }),
}

/** Returns why the batch settings are invalid. Other modes than batch are not checked. */
function batchProblem(name: SinkName, settings: Settings): string | undefined {
  const { isAsked, mode, bufferMax, batchMax, isThrottled, perSecond, burst } =
    manners[name](settings)
  if (!isAsked || mode !== 'batch') return undefined
  const wanted: [flag: string, value: number][] = [
    ['buffer-size', bufferMax],
    ['max-size', batchMax],
    ...(isThrottled
      ? ([
          ['throttle-qps', perSecond],
          ['throttle-burst', burst],
        ] as [string, number][])
      : []),
  ]
  const [flag] = wanted.find(([, value]) => value <= 0) ?? []
  return flag && `--audit-${name}-batch-${flag}: 0 is too little for --audit-${name}-mode=batch`
}

const waits = ({ isAsked, mode }: Manner) => isAsked && mode !== 'batch'

function sinkOf(name: SinkName, settings: Settings, writer: RecordWriter, lost: Lost): AuditSink {
  const manner = manners[name](settings)
  const { mode, isThrottled, perSecond, burst } = manner
  if (mode !== 'batch')
    return cut(name, manner, new BlockingSink(writer, mode === 'blocking-strict'), lost)
  const batching = new BatchingSink(writer, {
    ...manner,
    throttle: isThrottled ? { perSecond, burst } : undefined,
    underWayMax: batchesUnderWayMax[name],
    lost,
    monotonicMs: () => performance.now(),
  })
  return cut(name, manner, batching, lost)
}

/** Adds truncation to a sink if its flags enable it. Throws if the flags are inconsistent. */
function cut(name: SinkName, manner: Manner, sink: AuditSink, lost: Lost): AuditSink {
  const { cuts, version, eventBytesMax, batchBytesMax } = manner
  if (batchBytesMax < eventBytesMax)
    throw new Error(
      `--audit-${name}-truncate-max-batch-size: ${batchBytesMax} is less than --audit-${name}-truncate-max-event-size, ${eventBytesMax}`,
    )
  return cuts ? new TruncatingSink(sink, version, eventBytesMax, lost) : sink
}

function logSinks(settings: Settings, clock: Clock, lost: Lost): AuditSink[] {
  const { auditLogPath: path, auditLogFormat, auditLogVersion } = settings
  if (path === undefined || path === '') return []
  const sink = new LogSink({
    path,
    format: auditLogFormat === 'legacy' ? legacyLine : (event) => eventJson(event, auditLogVersion),
    ...rotationOf(settings, releaseOf(releaseNumber(settings.emulatedVersion))),
    compresses: settings.auditLogCompress,
    writesAtOnce: waits(manners.log(settings)),
    now: () => clock.now(),
    lost,
  })
  return [sinkOf('log', settings, sink, lost)]
}

async function webhookSinks(settings: Settings, random: Random, lost: Lost): Promise<AuditSink[]> {
  const { auditWebhookConfigFile: file } = settings
  if (file === undefined) return []
  const endpoint = await readKubeconfig(file)
  const call = caller(endpoint)
  const { url, identity } = endpoint
  const headers = { 'content-type': 'application/json' }
  const sink = new WebhookSink({
    async post(body) {
      const { status } = await call({
        method: 'POST',
        url,
        headers,
        identity: identity(),
        body,
        timeoutMs: webhookTimeoutMs,
        answerBytesMax: megabyte,
      })
      if (status < 200 || status > 299)
        throw new Error(`the webhook answered with status ${status}`)
    },
    version: settings.auditWebhookVersion,
    firstDelayMs: settings.auditWebhookInitialBackoffMs,
    lost,
    random: random.number,
  })
  return [sinkOf('webhook', settings, sink, lost)]
}
