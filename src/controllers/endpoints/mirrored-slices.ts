/** The EndpointSlices that mirror an Endpoints object, which a client has written. Pure. */
import { isIp, isIpv4, isIpv6 } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { repackSubsets } from '#kinds/core/endpoints/endpoint-subsets.ts'
import type { SliceGroup } from './slice-changes.ts'
import { managedByLabel, serviceNameLabel } from './slice-writer.ts'

export const mirrorManager = 'endpointslicemirroring-controller.k8s.io'
/** Most addresses of a subset that are mirrored. */
export const mirroredMax = 1000

const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'
const unsharedAnnotations = [
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
]

export const isMirrored = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[skipLabel] !== 'true' && metadata.annotations?.[leaderAnnotation] === undefined

export interface Mirrored {
  readonly groups: SliceGroup[]
  readonly invalid: number
  readonly skipped: number
}

export function mirroredGroups({ subsets = [] }: KubeObject): Mirrored {
  const groups: SliceGroup[] = []
  let invalid = 0
  let skipped = 0
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of repackSubsets(subsets)) {
    const both = [
      ...addresses.map((address: Loose) => ({ address, ready: true })),
      ...notReadyAddresses.map((address: Loose) => ({ address, ready: false })),
    ]
    const valid = both.filter(({ address }) => isIp(address.ip ?? ''))
    invalid += both.length - valid.length
    const mirrored = valid.slice(0, mirroredMax)
    skipped += valid.length - mirrored.length
    for (const addressType of ['IPv4', 'IPv6']) {
      const isOfType = addressType === 'IPv4' ? isIpv4 : isIpv6
      const endpoints = mirrored
        .filter(({ address }) => isOfType(address.ip))
        .map(({ address, ready }) => endpointOf(address, ready))
      if (endpoints.length > 0) groups.push({ addressType, ports: ports.map(named), endpoints })
    }
  }
  return { groups, invalid, skipped }
}

const named = ({ name = '', ...port }: Loose): Loose => ({ name, ...port })

const endpointOf = ({ ip, hostname, nodeName, targetRef }: Loose, ready: boolean): Loose => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname && { hostname }),
  ...(targetRef && { targetRef }),
  ...(nodeName && { nodeName }),
})

export function mirrorMetadata({ metadata }: KubeObject): Loose {
  const { name = '', namespace, uid, labels, annotations = {} } = metadata
  const shared = Object.entries(annotations).filter(([key]) => !unsharedAnnotations.includes(key))
  return {
    generateName: `${name}-`,
    namespace,
    labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: mirrorManager },
    annotations: Object.fromEntries(shared),
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        name,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  }
}
