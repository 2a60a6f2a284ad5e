/** The metrics of priority and fairness. Counters of the queues are read at each scrape. */
import {
  counter,
  type Distribution,
  gauge,
  histogram,
  type MetricValue,
} from '#observe/metrics/metric.ts'
import type { Registry } from '#observe/metrics/registry.ts'

/** Metrics of one flow schema at one priority level. */
export interface SchemaMeter {
  readonly dispatched: MetricValue
  readonly executing: MetricValue
  readonly inQueue: MetricValue
  readonly executionSeconds: Distribution
  readonly waitSeconds: Distribution
  refused(reason: string, waitedMs: number): void
  enqueued(length: number): void
}

export interface FlowMeters {
  of(level: string, schema: string): SchemaMeter
  limit(level: string, concurrency: number): void
  /**
   * Deletes the metrics of removed levels and schemas, once none of their requests runs or waits.
   */
  keep(levels: ReadonlySet<string>, there: Iterable<Pair>): void
}

interface Pair {
  readonly level: string
  readonly schema: string
}

interface Known extends Pair {
  readonly meter: SchemaMeter
  readonly inUse: MetricValue
}

const seconds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const lengths = [0, 10, 25, 50, 100, 250, 500, 1000]
const prefix = 'apiserver_flowcontrol'

function flowFamilies(registry: Registry) {
  const pair = ['priority_level', 'flow_schema']
  return {
    rejected: registry.register(
      counter(`${prefix}_rejected_requests_total`, ...pair, 'reason'),
      'Requests refused by fairness.',
    ),
    dispatched: registry.register(
      counter(`${prefix}_dispatched_requests_total`, ...pair),
      'Requests that fairness let run.',
    ),
    inQueue: registry.register(
      gauge(`${prefix}_current_inqueue_requests`, ...pair),
      'Requests that wait.',
    ),
    executing: registry.register(
      gauge(`${prefix}_current_executing_requests`, ...pair),
      'Requests that run.',
    ),
    inUse: registry.register(
      gauge(`${prefix}_request_concurrency_in_use`, ...pair),
      'Places in use.',
    ),
    limits: registry.register(
      gauge(`${prefix}_request_concurrency_limit`, 'priority_level'),
      'Places of a level.',
    ),
    queueLengths: registry.register(
      histogram(`${prefix}_request_queue_length_after_enqueue`, lengths, ...pair),
      'Length of a queue after a request joined it.',
    ),
    waits: registry.register(
      histogram(`${prefix}_request_wait_duration_seconds`, seconds, ...pair, 'execute'),
      'How long requests waited, in seconds.',
    ),
    executions: registry.register(
      histogram(`${prefix}_request_execution_seconds`, seconds, ...pair),
      'How long requests ran, in seconds.',
    ),
  }
}

export function flowMeters(registry: Registry): FlowMeters {
  const {
    rejected,
    dispatched,
    inQueue,
    executing,
    inUse,
    limits,
    queueLengths,
    waits,
    executions,
  } = flowFamilies(registry)
  const known = new Map<string, Known>()
  const limited = new Set<string>()
  registry.collect(() => {
    for (const { meter, inUse } of known.values()) inUse.set(meter.executing.value)
  })
  const nameOf = (level: string, schema: string) => `${level} ${schema}`
  return {
    of(level, schema) {
      const made = known.get(nameOf(level, schema))?.meter ?? {
        dispatched: dispatched.labels(level, schema),
        executing: executing.labels(level, schema),
        inQueue: inQueue.labels(level, schema),
        executionSeconds: executions.labels(level, schema),
        waitSeconds: waits.labels(level, schema, 'true'),
        refused(reason: string, waitedMs: number) {
          rejected.labels(level, schema, reason).add(1)
          waits.labels(level, schema, 'false').observe(waitedMs / 1000)
        },
        enqueued: (length: number) => queueLengths.labels(level, schema).observe(length),
      }
      const one = { level, schema, meter: made, inUse: inUse.labels(level, schema) }
      known.set(nameOf(level, schema), one)
      return made
    },
    limit(level, concurrency) {
      limited.add(level)
      limits.labels(level).set(concurrency)
    },
    keep(levels, there) {
      for (const level of limited) {
        if (levels.has(level)) continue
        limited.delete(level)
        limits.forget({ priority_level: level })
      }
      const names = new Set<string>()
      for (const { level, schema } of there) names.add(nameOf(level, schema))
      for (const [name, { level, schema, meter }] of known) {
        if (names.has(name) || meter.executing.value > 0 || meter.inQueue.value > 0) continue
        known.delete(name)
        registry.forget({ priority_level: level, flow_schema: schema })
      }
    },
  }
}
