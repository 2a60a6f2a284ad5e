/** Which pods a service publishes, at which addresses and ports. Pure. */
import { isIpv6 } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { hasEnded, isReady } from '#controllers/workloads/pod-states.ts'

/** A pod that has an address and has not ended. */
export const isPublished = (pod: KubeObject): boolean =>
  !hasEnded(pod) && addressesOf(pod).length > 0

export const addressesOf = ({ status }: KubeObject): string[] => {
  const listed: string[] = (status?.podIPs ?? []).map(({ ip }: Loose) => ip)
  return listed.length === 0 && status?.podIP ? [status.podIP] : listed
}

/** The address families of a service, of which the first is that of its Endpoints. */
export function familiesOf({ spec }: KubeObject): ('IPv4' | 'IPv6')[] {
  if (spec?.ipFamilies?.length > 0) return spec?.ipFamilies
  const address = spec?.clusterIP ?? ''
  if (address !== '' && address !== 'None') return [isIpv6(address) ? 'IPv6' : 'IPv4']
  return ['IPv4', 'IPv6']
}

export const isHeadless = ({ spec }: KubeObject): boolean =>
  (spec?.clusterIP ?? '') === '' || spec?.clusterIP === 'None'

export const publishesAll = ({ spec }: KubeObject): boolean =>
  spec?.publishNotReadyAddresses === true

export const isServing = (service: KubeObject, pod: KubeObject): boolean =>
  publishesAll(service) || isReady(pod)

export const hostnameOf = (service: KubeObject, { metadata, spec }: KubeObject) =>
  spec?.hostname &&
  spec.subdomain === service.metadata.name &&
  metadata.namespace === service.metadata.namespace
    ? (spec.hostname as string)
    : undefined

export const referenceTo = ({ metadata }: KubeObject): Loose => ({
  kind: 'Pod',
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
})

/** The ports of a service on a pod. A port with a name that the pod does not have is left out. */
export function portsOn({ spec }: KubeObject, pod: KubeObject): Loose[] {
  const ports: Loose[] = []
  for (const { name, protocol = 'TCP', appProtocol, targetPort, port } of spec?.ports ?? []) {
    const number = numberOf(targetPort ?? port, protocol, pod)
    if (number === undefined) continue
    ports.push({ name: name ?? '', port: number, protocol, ...(appProtocol && { appProtocol }) })
  }
  return ports
}

function numberOf(
  target: number | string,
  protocol: string,
  { spec }: KubeObject,
): number | undefined {
  if (typeof target === 'number') return target
  const sidecars = (spec?.initContainers ?? []).filter(
    ({ restartPolicy }: Loose) => restartPolicy === 'Always',
  )
  for (const container of [...(spec?.containers ?? []), ...sidecars]) {
    for (const { name, containerPort, protocol: spoken = 'TCP' } of container.ports ?? [])
      if (name === target && spoken === protocol) return containerPort
  }
  return undefined
}
