/**
 * Metrics of controllers' work queues, with client-go's names. The label children are created with
 * the queue.
 */
import { change } from '#api/releases/change.ts'
import { counter, exponentialBounds, gauge, histogram } from './metric.ts'
import type { Registry } from './registry.ts'

/** Buckets from ten nanoseconds to ten seconds. */
const bounds = exponentialBounds(1e-8, 10, 10)

const queuesAreBeta = change('metrics of work queues are BETA', { since: 36 })
const life = { stability: 'ALPHA', beta: queuesAreBeta } as const

function queueFamilies(registry: Registry) {
  const depth = registry.register(gauge('workqueue_depth', 'name'), 'Keys that wait.', life)
  const adds = registry.register(counter('workqueue_adds_total', 'name'), 'Keys added.', life)
  const waits = registry.register(
    histogram('workqueue_queue_duration_seconds', bounds, 'name'),
    'How long keys waited, in seconds.',
    life,
  )
  const works = registry.register(
    histogram('workqueue_work_duration_seconds', bounds, 'name'),
    'How long the work on a key took, in seconds.',
    life,
  )
  const retries = registry.register(
    counter('workqueue_retries_total', 'name'),
    'Keys that failed and came again.',
    life,
  )
  const unfinished = registry.register(
    gauge('workqueue_unfinished_work_seconds', 'name'),
    'How long the work under way has taken so far, all together, in seconds.',
    life,
  )
  const longest = registry.register(
    gauge('workqueue_longest_running_processor_seconds', 'name'),
    'How long the oldest of the work under way has taken so far, in seconds.',
    life,
  )
  return { depth, adds, waits, works, retries, unfinished, longest }
}

/** Returns the meter of a queue by its name. */
export function queueMeters(registry: Registry, nowMs = () => performance.now()) {
  const { depth, adds, waits, works, retries, unfinished, longest } = queueFamilies(registry)
  const underWay = new Map<string, Set<{ readonly sinceMs: number }>>()
  registry.collect(() => {
    const now = nowMs()
    for (const [name, works] of underWay) {
      let [sum, most] = [0, 0]
      for (const { sinceMs } of works) {
        sum += now - sinceMs
        most = Math.max(most, now - sinceMs)
      }
      unfinished.labels(name).set(sum / 1000)
      longest.labels(name).set(most / 1000)
    }
  })
  return (name: string) => {
    const running = underWay.get(name) ?? new Set()
    underWay.set(name, running)
    let known = 0
    const [waiting, added, waited, worked, retried] = [
      depth.labels(name),
      adds.labels(name),
      waits.labels(name),
      works.labels(name),
      retries.labels(name),
    ]
    return {
      added: () => added.add(1),
      // Several queues can share a name, also after a change of the leader. So add the difference
      // instead of setting the value.
      waiting(keys: number) {
        waiting.add(keys - known)
        known = keys
      },
      began: (waitedMs: number) => {
        waited.observe(waitedMs / 1000)
        const work = { sinceMs: nowMs() }
        running.add(work)
        return () => {
          running.delete(work)
          worked.observe((nowMs() - work.sinceMs) / 1000)
        }
      },
      retried: () => retried.add(1),
    }
  }
}
