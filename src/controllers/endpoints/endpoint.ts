/** Keeps the Endpoints of services that have a selector. */
import { formatSelector } from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { ApiClient } from '#client/client.ts'
import type { Controller } from '#controllers/controller.ts'
import { selectorOfPlainMap } from '#controllers/kept.ts'
import { isTerminating, queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { endpoints, pods, services } from '#controllers/resources.ts'
import { subsetsOf } from './endpoint-subsets.ts'
import { reportServices } from './selected-services.ts'
import { isHeadless } from './service-pods.ts'
import { headlessLabel } from './service-slices.ts'

const managedBy = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' }
const capacityKey = 'endpoints.kubernetes.io/over-capacity'
const pauseMs = 20

export const endpointController: Controller = {
  name: 'endpoint',
  account: 'endpoint-controller',
  start(parts) {
    const { client, informers } = parts
    const queue = queueFor('endpoint', parts, (key) => sync(client, key))
    reportServices(parts, (key) => queue.addAfter(key, pauseMs))
    informers.endpoints().listen({
      deleted: ({ namespace, name }) => queue.addAfter(`${namespace}/${name}`, pauseMs),
    })
  },
}

async function sync(client: ApiClient, key: string): Promise<void> {
  const [namespace, name] = splitKey(key)
  const service = await unlessMissing(client.get(services, namespace, name))
  if (service === undefined) {
    await unlessMissing(client.delete(endpoints, namespace, name))
    return
  }
  if (service.spec?.type === 'ExternalName' || service.spec?.selector == null) return
  const labelSelector = formatSelector(selectorOfPlainMap(service))
  const { items } = await client.list(pods, namespace, { labelSelector })
  const existing = await unlessMissing(client.get(endpoints, namespace, name))
  const wanted = endpointsOf(service, items, existing)
  if (existing === undefined) {
    await client.create(endpoints, namespace, wanted).catch((error) => {
      if (!isTerminating(error)) throw error
    })
  } else if (!isSame(existing, wanted)) await client.update(endpoints, wanted)
}

/** The Endpoints of a service. Pure. */
export function endpointsOf(
  service: KubeObject,
  found: readonly KubeObject[],
  existing?: KubeObject,
): KubeObject {
  const { namespace = '', name = '', labels } = service.metadata
  const { subsets, isTruncated } = subsetsOf(service, found)
  const { [capacityKey]: _, ...annotations } = existing?.metadata.annotations ?? {}
  const { [headlessLabel]: __, ...shared } = labels ?? {}
  return {
    ...existing,
    metadata: {
      ...existing?.metadata,
      namespace,
      name,
      labels: { ...shared, ...(isHeadless(service) && { [headlessLabel]: '' }), ...managedBy },
      annotations: { ...annotations, ...(isTruncated && { [capacityKey]: 'truncated' }) },
    },
    subsets,
  }
}

const isSame = (a: KubeObject, b: KubeObject): boolean =>
  semanticEqual(a.subsets, b.subsets) &&
  semanticEqual(a.metadata.labels, b.metadata.labels) &&
  semanticEqual(a.metadata.annotations, b.metadata.annotations)
