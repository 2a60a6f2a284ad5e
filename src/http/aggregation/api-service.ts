/** The fields of an APIService that the aggregation uses. Pure. */
import type { KubeObject, Loose } from '#api/object-meta.ts'

export const apiServices = { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices' }
/** v1beta1 and v1 have the same schema, so an object read as either is written as v1. */
export const apiVersion = `${apiServices.group}/${apiServices.version}`

/** The service that serves a group version. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

const portDefault = 443

/** Undefined for a local group version. */
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

/** The discovery path of the group version: `/apis/metrics.k8s.io/v1beta1`. */
export const discoveryPath = ({ metadata, spec }: KubeObject): string =>
  metadata.name === 'v1.' ? `/api/${spec?.version}` : `/apis/${spec?.group}/${spec?.version}`

/**
 * Whether this server manages the APIService at its start ('onstart') or always ('true'). Without
 * the label, a user manages it.
 */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'
export type Management = 'onstart' | 'true'

export function managementOf(service: KubeObject | undefined): Management | undefined {
  const stated = service?.metadata.labels?.[automanagedLabel]
  return stated === 'onstart' || stated === 'true' ? stated : undefined
}
