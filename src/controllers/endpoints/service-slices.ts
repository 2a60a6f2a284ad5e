/** The EndpointSlices that a service needs, from its pods. Pure. */
import { isIpv6 } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { isReady } from '#controllers/workloads/pod-states.ts'
import {
  addressesOf,
  familiesOf,
  hostnameOf,
  isHeadless,
  isPublished,
  portsOn,
  publishesAll,
  referenceTo,
} from './service-pods.ts'
import type { SliceGroup } from './slice-changes.ts'
import { managedByLabel, serviceNameLabel } from './slice-writer.ts'

export const sliceManager = 'endpointslice-controller.k8s.io'
export const headlessLabel = 'service.kubernetes.io/headless'

/** The zone of a node. Undefined if the node does not exist. */
export type ZoneOf = (node: string) => string | undefined

/** Each address family has at least one slice, which is empty if the service has no pods. */
export function groupsOf(
  service: KubeObject,
  pods: readonly KubeObject[],
  zoneOf: ZoneOf,
): SliceGroup[] {
  return familiesOf(service).flatMap((addressType) => {
    const groups = new Map<string, { ports: Loose[]; endpoints: Loose[] }>()
    for (const pod of pods.filter(isPublished)) {
      const zone = zoneOf(pod.spec?.nodeName ?? '')
      if (zone === undefined && !publishesAll(service)) continue
      const addresses = addressesOf(pod).filter(
        (address) => isIpv6(address) === (addressType === 'IPv6'),
      )
      if (addresses.length === 0) continue
      const ports = portsOn(service, pod)
      const group = groups.get(JSON.stringify(ports)) ?? { ports, endpoints: [] }
      groups.set(JSON.stringify(ports), group)
      group.endpoints.push(endpointOf(service, pod, addresses, zone ?? ''))
    }
    const found = [...groups.values()].map((group) => ({ addressType, ...group }))
    return found.length > 0 ? found : [{ addressType, ports: [], endpoints: [] }]
  })
}

function endpointOf(
  service: KubeObject,
  pod: KubeObject,
  addresses: string[],
  zone: string,
): Loose {
  const serving = isReady(pod)
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const hostname = hostnameOf(service, pod)
  return {
    addresses,
    conditions: {
      ready: publishesAll(service) || (serving && !terminating),
      serving,
      terminating,
    },
    ...(hostname && { hostname }),
    targetRef: referenceTo(pod),
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    ...(zone && { zone }),
  }
}

/** The labels of a service, except those that slices have a meaning for. */
export function sliceMetadata(service: KubeObject): Loose {
  const { name = '', namespace, uid } = service.metadata
  const reserved = [serviceNameLabel, managedByLabel, headlessLabel]
  const shared = Object.entries(service.metadata.labels ?? {}).filter(
    ([key]) => !reserved.includes(key),
  )
  return {
    generateName: `${name}-`,
    namespace,
    labels: {
      ...Object.fromEntries(shared),
      ...(isHeadless(service) && { [headlessLabel]: '' }),
      [serviceNameLabel]: name,
      [managedByLabel]: sliceManager,
    },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true },
    ],
  }
}
