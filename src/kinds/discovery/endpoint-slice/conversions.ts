/**
 * Conversions of EndpointSlice: the beta versions have zone and node in the topology labels; v1,
 * the hub, has fields.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import { setKey } from '#schema/user-key.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

const zoneLabel = 'topology.kubernetes.io/zone'
const hostLabel = 'kubernetes.io/hostname'

function endpointToHub(endpoint: Loose): void {
  const topology: Record<string, string> | undefined = endpoint.topology
  delete endpoint.topology
  if (!topology) return
  const zone = ownValue(topology, zoneLabel)
  if (zone !== undefined) {
    endpoint.zone = zone
    delete topology[zoneLabel]
  }
  const host = ownValue(topology, hostLabel)
  if (host !== undefined && host === endpoint.nodeName) delete topology[hostLabel]
  if (Object.keys(topology).length > 0) endpoint.deprecatedTopology = topology
}

function endpointFromHub(endpoint: Loose): void {
  const { deprecatedTopology, zone, nodeName } = endpoint
  delete endpoint.deprecatedTopology
  delete endpoint.zone
  const topology: Record<string, string> = deprecatedTopology ?? {}
  if (zone !== undefined) setKey(topology, zoneLabel, zone)
  if (nodeName !== undefined && !ownValue(topology, hostLabel))
    setKey(topology, hostLabel, nodeName)
  if (Object.keys(topology).length > 0) endpoint.topology = topology
}

const each = (object: KubeObject, change: (endpoint: Loose) => void): KubeObject => {
  for (const endpoint of (object.endpoints ?? []) as Loose[]) change(endpoint)
  return object
}

const conversion: Conversion = {
  toHub: (object) => each(object, endpointToHub),
  fromHub: (object) => each(object, endpointFromHub),
}

export const endpointSliceConversions: Conversions = {
  'discovery.k8s.io/v1beta1': conversion,
  'discovery.k8s.io/v1alpha1': conversion,
}
