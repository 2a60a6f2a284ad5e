/**
 * Metrics of resources: running watches, stored objects and requests to the store. Up to 1.33 a
 * label has both resource and group (`deployments.apps`), or the type (`*apps.Deployment`). Later
 * each has its own label.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { qualified } from '#api/status-error.ts'
import { alias, counter, exponentialBounds, gauge, histogram } from './metric.ts'
import type { Registry } from './registry.ts'

/** Durations in seconds of requests and of the store, from 1.25 on. */
export const durationBoundsOf25 = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
]
const storeBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60]

const alpha = { stability: 'ALPHA' } as const
const metricsOf16 = change('metrics measure watch events', { since: 16 })
const metricsOf17 = change('a metric counts watches that the server ended', { since: 17 })
const metricsOf20 = change('metrics measure watch caches', { since: 20 })
const countsObjects = change('the metric apiserver_storage_objects counts stored objects', {
  since: 21,
})
const objectCountsAreDeprecated = change('the metric etcd_object_counts is deprecated', {
  since: 22,
})
export const longRunningIsRenamed = change(
  'apiserver_longrunning_requests replaces the metric apiserver_longrunning_gauge',
  { since: 23 },
)
const watchersAreDeprecated = change('the metric apiserver_registered_watchers is deprecated', {
  since: 23,
})
export const namesUntil24 = change(
  'there are the deprecated metrics of long-running and dropped requests, watchers and objects',
  { until: 24 },
)
const moreStoreBounds = change('the metric of store requests has more buckets', { since: 25 })
const sizesOfEtcd = change('the metric of the size of the store is etcd_db_total_size_in_bytes', {
  until: 25,
})
const sizesOfEndpoints = change(
  'the metric of the size of the store is apiserver_storage_db_total_size_in_bytes',
  { since: 26, until: 36 },
)
const sizesOfClusters = change(
  'the metric of the size of the store is apiserver_storage_size_bytes',
  { since: 28 },
)
const sizesAreStable = change('the metric apiserver_storage_size_bytes is STABLE', { since: 30 })
export const labelsNameGroups = change(
  'metrics of watches, objects and the store have the labels group and resource',
  { since: 34 },
)
const oldObjectsAreDeprecated = change('the metric apiserver_storage_objects is deprecated', {
  since: 35,
})
const watchEventsAreBeta = change('metrics of watch events are BETA', { since: 37 })

export function resourceMetrics(registry: Registry, release: number) {
  const namesGroups = releaseOf(release).has(labelsNameGroups)
  return {
    /** The values of the labels of a resource. */
    resourceLabels: (group: string, plural: string): string[] =>
      namesGroups ? [group, plural] : [qualified(plural, group)],
    /** The values of the labels of watch events. */
    watchLabels: (group: string, version: string, kind: string, plural: string): string[] => [
      group,
      version,
      namesGroups ? plural : kind,
    ],
    /** Whether labels name group and resource, where older releases have one label or a type. */
    labelsNameGroups: namesGroups,
    ...watchMetrics(registry, namesGroups),
    ...objectMetrics(registry),
    ...storeMetrics(registry, release, namesGroups),
  }
}

const resourceLabelNames = (namesGroups: boolean) =>
  namesGroups ? ['group', 'resource'] : ['resource']

function watchMetrics(registry: Registry, namesGroups: boolean) {
  const resource = resourceLabelNames(namesGroups)
  const labels = ['group', 'version', namesGroups ? 'resource' : 'kind']
  const events = { ...alpha, beta: watchEventsAreBeta, only: metricsOf16 }
  return {
    watchers: registry.register(
      gauge('apiserver_registered_watchers', 'group', 'version', 'kind'),
      'Running watches.',
      { ...alpha, only: namesUntil24, deprecated: watchersAreDeprecated },
    ),
    watchEvents: registry.register(
      counter('apiserver_watch_events_total', ...labels),
      'Events sent to watches.',
      events,
    ),
    watchEventSizes: registry.register(
      histogram('apiserver_watch_events_sizes', exponentialBounds(1024, 2, 8), ...labels),
      'Sizes of events sent to watches, in bytes.',
      events,
    ),
    initEvents: registry.register(
      counter('apiserver_init_events_total', ...resource),
      'Objects that watches began with.',
      alpha,
    ),
    terminatedWatchers: registry.register(
      counter('apiserver_terminated_watchers_total', ...resource),
      'Watches ended because their client did not keep up.',
      { ...alpha, only: metricsOf17 },
    ),
    watchCacheCapacity: registry.register(
      gauge('watch_cache_capacity', ...resource),
      'Most changes of the recent past that are kept.',
      { ...alpha, only: metricsOf20 },
    ),
  }
}

function objectMetrics(registry: Registry) {
  return {
    objectsByGroup: registry.register(
      gauge('apiserver_resource_objects', 'group', 'resource'),
      'Stored objects by group and resource.',
      { ...alpha, only: labelsNameGroups },
    ),
    objects: registry.register(
      gauge('apiserver_storage_objects', 'resource'),
      'Stored objects by resource.',
      {
        stability: 'STABLE',
        only: countsObjects,
        deprecated: oldObjectsAreDeprecated,
        // The notice names the release that brought the replacement.
        deprecatedWith: labelsNameGroups,
        replacedBy: 'apiserver_resource_objects',
      },
    ),
    objectsBefore: registry.register(
      gauge('etcd_object_counts', 'resource'),
      'Stored objects by resource; apiserver_storage_objects replaces it.',
      {
        ...alpha,
        only: namesUntil24,
        deprecated: objectCountsAreDeprecated,
        replacedBy: 'apiserver_storage_objects',
      },
    ),
  }
}

function storeMetrics(registry: Registry, release: number, namesGroups: boolean) {
  const { has } = releaseOf(release)
  const storeSizes = registry.register(
    gauge('etcd_db_total_size_in_bytes', 'endpoint'),
    'How many bytes the file of each etcd has.',
    { ...alpha, only: sizesOfEtcd },
  )
  registry.register(
    alias('apiserver_storage_db_total_size_in_bytes', storeSizes),
    'How many bytes the file of each etcd has.',
    {
      ...alpha,
      only: sizesOfEndpoints,
      deprecated: sizesOfClusters,
      replacedBy: 'apiserver_storage_size_bytes',
    },
  )
  const clusterLabel = has(sizesAreStable) ? 'storage_cluster_id' : 'cluster'
  return {
    storeSizes,
    clusterSizes: registry.register(
      gauge('apiserver_storage_size_bytes', clusterLabel),
      'How many bytes the file of the first etcd has.',
      { ...alpha, stable: sizesAreStable, only: sizesOfClusters },
    ),
    storeDurations: registry.register(
      histogram(
        'etcd_request_duration_seconds',
        has(moreStoreBounds) ? durationBoundsOf25 : storeBounds,
        'operation',
        ...(namesGroups ? ['group', 'resource'] : ['type']),
      ),
      'How long requests to the store took, in seconds.',
      alpha,
    ),
  }
}
