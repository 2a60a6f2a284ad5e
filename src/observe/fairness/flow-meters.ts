/** The metrics of priority and fairness. Counters of the queues are read at each scrape. */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  alias,
  counter,
  type Distribution,
  gauge,
  histogram,
  type MetricValue,
} from '#observe/metrics/metric.ts'
import type { Registry } from '#observe/metrics/registry.ts'
import { withLongBounds } from '#observe/metrics/server-metrics.ts'

/** Metrics of one flow schema at one priority level. */
export interface SchemaMeter {
  readonly dispatched: MetricValue
  readonly executing: MetricValue
  readonly inQueue: MetricValue
  readonly executionSeconds: Distribution
  /** How long watches took to begin; the same as the other requests up to 1.23. */
  readonly watchSeconds: Distribution
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

const namesTypes = change('the metric of execution times in fairness has the label type', {
  since: 24,
})
const nominalLimits = change('the metric of nominal seats counts the places of a level', {
  since: 26,
})
const executingSeats = change('the metric of executing seats counts the places in use', {
  since: 28,
})
const flowsAreBeta = change('metrics of requests and seats in fairness are BETA', { since: 28 })
const limitIsDeprecated = change(
  'the metric apiserver_flowcontrol_request_concurrency_limit is deprecated',
  { since: 30 },
)
const inUseIsDeprecated = change(
  'the metric apiserver_flowcontrol_request_concurrency_in_use is deprecated',
  { since: 31 },
)
const concurrencyNames = change('metrics of fairness count places under the name concurrency', {
  until: 36,
})

const life = { stability: 'ALPHA', beta: flowsAreBeta } as const

function flowFamilies(registry: Registry, release: number) {
  const pair = ['priority_level', 'flow_schema']
  const bounds = withLongBounds(seconds, [15], release)
  const type = releaseOf(release).has(namesTypes) ? ['type'] : []
  return {
    ...seatFamilies(registry, pair),
    rejected: registry.register(
      counter(`${prefix}_rejected_requests_total`, ...pair, 'reason'),
      'Requests refused by fairness.',
      life,
    ),
    dispatched: registry.register(
      counter(`${prefix}_dispatched_requests_total`, ...pair),
      'Requests that fairness let run.',
      life,
    ),
    inQueue: registry.register(
      gauge(`${prefix}_current_inqueue_requests`, ...pair),
      'Requests that wait.',
      life,
    ),
    executing: registry.register(
      gauge(`${prefix}_current_executing_requests`, ...pair),
      'Requests that run.',
      life,
    ),
    queueLengths: registry.register(
      histogram(`${prefix}_request_queue_length_after_enqueue`, lengths, ...pair),
      'Length of a queue after a request joined it.',
    ),
    waits: registry.register(
      histogram(`${prefix}_request_wait_duration_seconds`, bounds, ...pair, 'execute'),
      'How long requests waited, in seconds.',
      life,
    ),
    executions: registry.register(
      histogram(`${prefix}_request_execution_seconds`, bounds, ...pair, ...type),
      'How long requests ran, in seconds.',
    ),
  }
}

/** Places of levels, under the names of each release. A request uses one place. */
function seatFamilies(registry: Registry, pair: readonly string[]) {
  const limits = registry.register(
    gauge(`${prefix}_nominal_limit_seats`, 'priority_level'),
    'Places of a level.',
    { ...life, only: nominalLimits },
  )
  const inUse = registry.register(
    gauge(`${prefix}_current_executing_seats`, ...pair),
    'Places in use.',
    { ...life, only: executingSeats },
  )
  registry.register(alias(`${prefix}_request_concurrency_limit`, limits), 'Places of a level.', {
    stability: 'ALPHA',
    only: concurrencyNames,
    deprecated: limitIsDeprecated,
    replacedBy: limits.name,
  })
  registry.register(alias(`${prefix}_request_concurrency_in_use`, inUse), 'Places in use.', {
    stability: 'ALPHA',
    only: concurrencyNames,
    deprecated: inUseIsDeprecated,
    replacedBy: inUse.name,
  })
  return { limits, inUse }
}

export function flowMeters(registry: Registry, release: number): FlowMeters {
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
  } = flowFamilies(registry, release)
  const typeOf = (type: string) => (releaseOf(release).has(namesTypes) ? [type] : [])
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
        executionSeconds: executions.labels(level, schema, ...typeOf('regular')),
        watchSeconds: executions.labels(level, schema, ...typeOf('watch')),
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
