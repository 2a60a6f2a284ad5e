/** Keeps the EndpointSlices of services that have a selector. */
import { formatSelector } from '#api/label-selector.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { selectorOfPlainMap } from '#controllers/kept.ts'
import { queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { pods, services } from '#controllers/resources.ts'
import { reportServices } from './selected-services.ts'
import { groupsOf, sliceManager, sliceMetadata, type ZoneOf } from './service-slices.ts'
import { sliceChanges } from './slice-changes.ts'
import { managedByLabel, serviceNameLabel, slicesFor, writeSlices } from './slice-writer.ts'

/** As in kube-controller-manager by default. */
const endpointsMax = 100
const pauseMs = 20

export const endpointSliceController: Controller = {
  name: 'endpointslice',
  account: 'endpointslice-controller',
  start(parts) {
    const nodes = parts.informers.zonedNodes()
    const queue = queueFor('endpointslice', parts, async (key) => {
      await nodes.synced
      return sync(parts, key, (node) => nodes.get('', node)?.zone)
    })
    const changed = (key: string) => queue.addAfter(key, pauseMs)
    reportServices(parts, changed)
    parts.informers.endpointSlices().listen({
      deleted: ({ namespace, labels }) => {
        const name = labels[serviceNameLabel]
        if (name !== undefined && labels[managedByLabel] === sliceManager)
          changed(`${namespace}/${name}`)
      },
    })
  },
}

async function sync({ client }: ControllerParts, key: string, zoneOf: ZoneOf): Promise<void> {
  const [namespace, name] = splitKey(key)
  const service = await unlessMissing(client.get(services, namespace, name))
  // The garbage collector deletes the slices of a deleted service.
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return
  if (service.spec?.type === 'ExternalName' || service.spec?.selector == null) return
  const labelSelector = formatSelector(selectorOfPlainMap(service))
  const { items } = await client.list(pods, namespace, { labelSelector })
  const existing = await slicesFor(client, namespace, name, sliceManager)
  const changes = sliceChanges(groupsOf(service, items, zoneOf), existing, {
    metadata: sliceMetadata(service),
    endpointsMax,
    owner: service.metadata.uid as string,
  })
  await writeSlices(client, namespace, changes)
}
