/** What the aggregation reads of an APIService. Pure. */
import type { KubeObject, Loose } from '#api/object-meta.ts'

export const apiServices = { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices' }
/** Both versions there ever were look the same: what is read as one is written as the other. */
export const apiVersion = `${apiServices.group}/${apiServices.version}`

/** The service that answers for a group version. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

const portDefault = 443

/** Undefined for a group version that is served here. */
export function serviceOf({ spec }: KubeObject): ServiceReference | undefined {
  const service: Loose | undefined = spec?.service ?? undefined
  if (service === undefined) return undefined
  return {
    namespace: service.namespace ?? '',
    name: service.name ?? '',
    port: service.port ?? portDefault,
  }
}

const availableCondition = ({ status }: KubeObject): Loose | undefined =>
  (status?.conditions ?? []).find(({ type }: Loose) => type === 'Available')

export const isAvailable = (service: KubeObject): boolean =>
  availableCondition(service)?.status === 'True'

/** Where the group version is, without the version's resources: `/apis/metrics.k8s.io/v1beta1`. */
export const discoveryPath = ({ metadata, spec }: KubeObject): string =>
  metadata.name === 'v1.' ? `/api/${spec?.version}` : `/apis/${spec?.group}/${spec?.version}`

/** What manages a service: this server at its start, this server always, or another program. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'
export type Management = 'onstart' | 'true'

export function managementOf(service: KubeObject | undefined): Management | undefined {
  const said = service?.metadata.labels?.[automanagedLabel]
  return said === 'onstart' || said === 'true' ? said : undefined
}
