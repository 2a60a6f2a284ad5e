/**
 * Metrics of the store and of the servers that this server calls: webhooks and aggregated servers.
 */
import { unnamedServers } from '#access/server-identity.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Resource } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Distribution } from '#observe/metrics/metric.ts'
import { MeasuredStorage, type StoreOperation } from '#storage/measured.ts'
import type { Storage } from '#storage/storage.ts'
import type { Recorders } from './recorders.ts'

type ByOperation = Map<StoreOperation, Distribution>

/**
 * At most this many key prefixes are cached. Then the cache is cleared, so that prefixes of deleted
 * custom kinds do not accumulate.
 */
const prefixesMax = 1000

/** How long requests to the store take, by operation and resource, or type: `*core.Pod`. */
export function measureStore(
  { metrics }: Recorders,
  storage: Storage,
  catalog: Catalog,
  root: string,
): void {
  if (!(storage instanceof MeasuredStorage)) return
  const known = new Map<string, ByOperation>()
  storage.took = (operation, key, ms) => {
    const prefix = prefixOf(key, root.length)
    let byOperation = known.get(prefix)
    if (byOperation === undefined) {
      if (known.size === prefixesMax) known.clear()
      known.set(prefix, (byOperation = new Map()))
    }
    let durations = byOperation.get(operation)
    if (durations === undefined) {
      const resource = resourceOf(catalog, prefix, key)
      durations = metrics.storeDurations.labels(
        operation,
        ...(metrics.labelsNameGroups
          ? [resource?.group ?? '', resource?.plural ?? '']
          : [resource === undefined ? '' : typeNameOf(resource)]),
      )
      byOperation.set(operation, durations)
    }
    durations.observe(ms / 1000)
  }
}

/**
 * The key prefix of a resource: `/registry/pods`, or `/registry/example.com/widgets` if the first
 * segment is a group or `services`.
 */
function prefixOf(key: string, rootLength: number): string {
  const end = key.indexOf('/', rootLength + 1)
  const first = key.slice(0, end)
  const dot = first.indexOf('.', rootLength)
  return dot === -1 && !first.endsWith('/services')
    ? first
    : key.slice(0, key.indexOf('/', end + 1))
}

function resourceOf(catalog: Catalog, prefix: string, key: string): Resource | undefined {
  const [group, plural] = prefix.split('/').slice(-2)
  const named = catalog.resource(group, plural)
  // The path of a custom kind names its group and plural, so no search is needed.
  if (named?.storagePrefix === prefix) return named
  for (const resource of catalog.resources()) {
    const { storagePrefix } = resource
    if (storagePrefix !== '' && key.startsWith(`${storagePrefix}/`)) return resource
  }
  return undefined
}

function typeNameOf({ hub }: Resource): string {
  if (hub.itemsCarryType) return '*unstructured.Unstructured'
  const [group] = hub.group.split('.')
  return `*${group === '' || group === 'events' ? 'core' : group}.${hub.kind}`
}

/**
 * Metrics of the availability of APIServices, and of how often each became unavailable. Both come
 * from the Available condition.
 */
export async function measureAvailability(
  { metrics }: Recorders,
  reader: ObjectReader,
): Promise<void> {
  const available = new Map<string, boolean>()
  await reader.follow('apiregistration.k8s.io', 'apiservices', {
    changed({ metadata: { name = '' }, status }) {
      const conditions: Condition[] = status?.conditions ?? []
      const condition = conditions.find(({ type }) => type === 'Available')
      if (condition === undefined) return
      const isAvailable = condition.status === 'True'
      if (available.get(name) === true && !isAvailable)
        metrics.servicesLost.labels(name, condition.reason ?? 'UnknownReason').add(1)
      available.set(name, isAvailable)
      metrics.unavailableServices.labels(name).set(isAvailable ? 0 : 1)
    },
    deleted({ metadata: { name = '' } }) {
      available.delete(name)
      metrics.unavailableServices.forget({ name })
      metrics.servicesLost.forget({ name })
    },
  })
}

/**
 * Exposes counters that the server collects elsewhere: calls to servers whose certificate has no
 * alternative names. Also creates the OpenAPI metrics, so that they are listed before the first
 * request.
 */
export function measureUnnamed({ registry, metrics }: Recorders): void {
  metrics.openApiBuilds.labels('*', 'startup')
  metrics.openApiBuildDuration.labels('startup')
  registry.collect(() => {
    metrics.unnamedAggregated.set(unnamedServers.aggregated.count)
    metrics.unnamedWebhooks.set(unnamedServers.webhooks.count)
  })
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
}
