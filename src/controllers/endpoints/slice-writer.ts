/** Writes the EndpointSlices of one service that one controller manages. */
import { formatSelector, selectorOfMap } from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import { isTerminating, unlessOvertaken } from '#controllers/queue-for.ts'
import { endpointSlices } from '#controllers/resources.ts'
import type { SliceChanges } from './slice-changes.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'

export async function slicesFor(
  client: ApiClient,
  namespace: string,
  service: string,
  manager: string,
): Promise<KubeObject[]> {
  const labels = { [serviceNameLabel]: service, [managedByLabel]: manager }
  const labelSelector = formatSelector(selectorOfMap(labels))
  return (await client.list(endpointSlices, namespace, { labelSelector })).items
}

/** Creates nothing in a namespace that is going away. */
export async function writeSlices(
  client: ApiClient,
  namespace: string,
  { create, update, remove }: SliceChanges,
): Promise<void> {
  try {
    for (const slice of create) await client.create(endpointSlices, namespace, slice as KubeObject)
  } catch (error) {
    if (isTerminating(error)) return
    throw error
  }
  for (const slice of update) await client.update(endpointSlices, slice)
  for (const { metadata } of remove) {
    const { name = '', uid = '' } = metadata
    await unlessOvertaken(client.delete(endpointSlices, namespace, name, { uid }))
  }
}
