/** What controllers' work queues do, by the names client-go gives it. Children are made when a queue is. */
import { counter, exponentialBounds, gauge, histogram } from './metric.ts'
import type { Registry } from './registry.ts'

/** From ten nanoseconds to ten seconds. */
const bounds = exponentialBounds(1e-8, 10, 10)

/** The meter of a queue by its name. */
export function queueMeters(registry: Registry) {
  const depth = registry.register(gauge('workqueue_depth', 'name'), 'Keys that wait.')
  const adds = registry.register(counter('workqueue_adds_total', 'name'), 'Keys added.')
  const waits = registry.register(
    histogram('workqueue_queue_duration_seconds', bounds, 'name'),
    'How long keys waited, in seconds.',
  )
  const works = registry.register(
    histogram('workqueue_work_duration_seconds', bounds, 'name'),
    'How long the work on a key took, in seconds.',
  )
  const retries = registry.register(
    counter('workqueue_retries_total', 'name'),
    'Keys that failed and came again.',
  )
  return (name: string) => {
    const [waiting, added, waited, worked, retried] = [
      depth.labels(name),
      adds.labels(name),
      waits.labels(name),
      works.labels(name),
      retries.labels(name),
    ]
    return {
      added: () => added.add(1),
      waiting: (keys: number) => waiting.set(keys),
      began: (waitedMs: number) => waited.observe(waitedMs / 1000),
      done: (tookMs: number) => worked.observe(tookMs / 1000),
      retried: () => retried.add(1),
    }
  }
}
