/** The metrics of fairness. Counts that the queues know anyway are read when somebody looks. */
import {
  counter,
  type Distribution,
  gauge,
  histogram,
  type Value,
} from '#observe/metrics/metric.ts'
import type { Registry } from '#observe/metrics/registry.ts'

/** What one schema counts at one level. */
export interface SchemaMeter {
  readonly dispatched: Value
  readonly executing: Value
  readonly inQueue: Value
  readonly executionSeconds: Distribution
  readonly waitSeconds: Distribution
  refused(reason: string, waitedMs: number): void
  enqueued(length: number): void
}

export interface FlowMeters {
  of(level: string, schema: string): SchemaMeter
  limit(level: string, concurrency: number): void
}

const seconds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const lengths = [0, 10, 25, 50, 100, 250, 500, 1000]
const prefix = 'apiserver_flowcontrol'

export function flowMeters(registry: Registry): FlowMeters {
  const pair = ['priority_level', 'flow_schema']
  const rejected = registry.register(
    counter(`${prefix}_rejected_requests_total`, ...pair, 'reason'),
    'Requests refused by fairness.',
  )
  const dispatched = registry.register(
    counter(`${prefix}_dispatched_requests_total`, ...pair),
    'Requests that fairness let run.',
  )
  const inQueue = registry.register(
    gauge(`${prefix}_current_inqueue_requests`, ...pair),
    'Requests that wait.',
  )
  const executing = registry.register(
    gauge(`${prefix}_current_executing_requests`, ...pair),
    'Requests that run.',
  )
  const inUse = registry.register(
    gauge(`${prefix}_request_concurrency_in_use`, ...pair),
    'Places in use.',
  )
  const limits = registry.register(
    gauge(`${prefix}_request_concurrency_limit`, 'priority_level'),
    'Places of a level.',
  )
  const queueLengths = registry.register(
    histogram(`${prefix}_request_queue_length_after_enqueue`, lengths, ...pair),
    'Length of a queue after a request joined it.',
  )
  const waits = registry.register(
    histogram(`${prefix}_request_wait_duration_seconds`, seconds, ...pair, 'execute'),
    'How long requests waited, in seconds.',
  )
  const executions = registry.register(
    histogram(`${prefix}_request_execution_seconds`, seconds, ...pair),
    'How long requests ran, in seconds.',
  )
  const running: { value: Value; inUse: Value }[] = []
  registry.collect(() => {
    for (const one of running) one.inUse.set(one.value.value)
  })
  const known = new Map<string, SchemaMeter>()
  return {
    of(level, schema) {
      const name = `${level} ${schema}`
      const made = known.get(name) ?? {
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
      if (!known.has(name)) {
        known.set(name, made)
        running.push({ value: made.executing, inUse: inUse.labels(level, schema) })
      }
      return made
    },
    limit: (level, concurrency) => limits.labels(level).set(concurrency),
  }
}
