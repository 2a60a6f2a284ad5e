/** Predicates and accessors of a Service that validation and strategy share. */
import { change, releaseOf } from '#api/releases/change.ts'
import { goPointer, goQuote, goStruct, type GoText, type GoPart } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { goIntOrString } from '#kinds/all-kinds/int-or-percent.ts'

const showsAppProtocol = change('errors of services show the appProtocol of ports', { since: 18 })

export const specOf = (service: KubeObject): Loose => service.spec ?? {}

/** Objects of releases before 1.20 have only `clusterIP`. */
export function clusterIpsOf(service: KubeObject): string[] {
  const { clusterIPs, clusterIP } = specOf(service)
  return clusterIPs ?? (clusterIP ? [clusterIP] : [])
}

export function isHeadless(service: KubeObject): boolean {
  const ips = clusterIpsOf(service)
  return ips.length === 1 && ips[0] === 'None'
}

export const isExternalName = (service: KubeObject): boolean =>
  specOf(service).type === 'ExternalName'
export const isLoadBalancer = (service: KubeObject): boolean =>
  specOf(service).type === 'LoadBalancer'
export const needsNodePort = (service: KubeObject): boolean =>
  ['NodePort', 'LoadBalancer'].includes(specOf(service).type)
export const needsHealthCheckPort = (service: KubeObject): boolean =>
  isLoadBalancer(service) && specOf(service).externalTrafficPolicy === 'Local'

const externalIpsAreAccessible = change(
  'services of type ClusterIP with externalIPs have an externalTrafficPolicy',
  { since: 29 },
)

export const isExternallyAccessible = (service: KubeObject, release: number): boolean =>
  needsNodePort(service) ||
  (specOf(service).type === 'ClusterIP' &&
    specOf(service).externalIPs?.length > 0 &&
    releaseOf(release).has(externalIpsAreAccessible))

const sparesExternalNames = change('services of type ExternalName need no internalTrafficPolicy', {
  since: 24,
})

export const needsInternalTrafficPolicy = ({ type }: Loose, release: number): boolean =>
  !releaseOf(release).has(sparesExternalNames) ||
  ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(type)

export const goServicePort = (port: Loose, release: number): GoText =>
  goStruct('core.ServicePort', [
    ['Name', goQuote(port.name ?? '')],
    ['Protocol', goQuote(port.protocol ?? '')],
    ...(releaseOf(release).has(showsAppProtocol)
      ? [['AppProtocol', goPointer('string', port.appProtocol)] as [string, GoPart]]
      : []),
    ['Port', String(port.port ?? 0)],
    ['TargetPort', goIntOrString(port.targetPort)],
    ['NodePort', String(port.nodePort ?? 0)],
  ])
