/** Mirrors Endpoints that clients write for services without a selector as EndpointSlices. */
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { endpoints, services } from '#controllers/resources.ts'
import { eventRecorder, type RecordEvent } from '#controllers/workloads/event-recorder.ts'
import {
  isMirrored,
  mirroredGroups,
  mirroredMax,
  mirrorManager,
  mirrorMetadata,
} from './mirrored-slices.ts'
import { sliceChanges } from './slice-changes.ts'
import { managedByLabel, serviceNameLabel, slicesFor, writeSlices } from './slice-writer.ts'

const component = 'endpoint-slice-mirroring-controller'
const pauseMs = 20

export const endpointSliceMirroring: Controller = {
  name: 'endpointslicemirroring',
  account: 'endpointslicemirroring-controller',
  start(parts) {
    const { informers } = parts
    const record = eventRecorder(component, { apiVersion: 'v1', kind: 'Endpoints' }, parts)
    const queue = queueFor('endpointslicemirroring', parts, (key) => sync(parts, key, record))
    const changed = ({ namespace, name }: { namespace: string; name: string }) =>
      queue.addAfter(`${namespace}/${name}`, pauseMs)
    informers.services().listen({ changed, deleted: changed })
    informers.endpoints().listen({ changed, deleted: changed })
    informers.endpointSlices().listen({
      deleted: ({ namespace, labels }) => {
        const name = labels[serviceNameLabel]
        if (name !== undefined && labels[managedByLabel] === mirrorManager)
          changed({ namespace, name })
      },
    })
  },
}

async function sync({ client }: ControllerParts, key: string, record: RecordEvent): Promise<void> {
  const [namespace, name] = splitKey(key)
  const found = await unlessMissing(client.get(endpoints, namespace, name))
  const service = await unlessMissing(client.get(services, namespace, name))
  const existing = await slicesFor(client, namespace, name, mirrorManager)
  if (found === undefined || !isMirrored(found) || !lacksSelector(service)) {
    await writeSlices(client, namespace, { create: [], update: [], remove: existing })
    return
  }
  const { groups, invalid, skipped } = mirroredGroups(found)
  const changes = sliceChanges(groups, existing, {
    metadata: mirrorMetadata(found),
    endpointsMax: mirroredMax,
    owner: found.metadata.uid as string,
  })
  await writeSlices(client, namespace, changes)
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    record(found, 'Warning', 'InvalidIPAddress', message)
  }
  if (skipped > 0) {
    const message =
      `A max of ${mirroredMax} addresses can be mirrored to EndpointSlices per Endpoints subset. ` +
      `${invalid + skipped} addresses were skipped`
    record(found, 'Warning', 'TooManyAddressesToMirror', message)
  }
}

const lacksSelector = (service: KubeObject | undefined): boolean =>
  service !== undefined && service.spec?.selector == null
