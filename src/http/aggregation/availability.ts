/**
 * Determines whether the server of an APIService is available: from its service and endpoints, then
 * from its discovery. It returns a condition; the prober writes it.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { type ServiceReference, serviceOf } from './api-service.ts'

export interface Condition {
  readonly type: 'Available'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

const condition = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'Available',
  status,
  reason,
  message,
})

/** Resolves with undefined if discovery succeeded, otherwise with the reason. */
export type LookAtDiscovery = (
  apiService: KubeObject,
  service: ServiceReference,
) => Promise<string | undefined>

const local = condition('True', 'Local', 'Local APIServices are always available')

export async function availabilityOf(
  apiService: KubeObject,
  reader: ObjectReader,
  look: LookAtDiscovery,
): Promise<Condition> {
  const reference = serviceOf(apiService)
  if (reference === undefined) return local
  const { namespace, name } = reference
  const service = await reader.get('', 'services', namespace, name)
  const place = `service/${name} in ${JSON.stringify(namespace)}`
  if (service === undefined) return condition('False', 'ServiceNotFound', `${place} is not present`)
  if (service.spec?.type === 'ClusterIP') {
    const missing = await endpointsProblem(reference, service.spec, place, reader)
    if (missing !== undefined) return missing
  }
  const problem = await look(apiService, reference)
  if (problem !== undefined) return condition('False', 'FailedDiscoveryCheck', problem)
  return condition('True', 'Passed', 'all checks passed')
}

async function endpointsProblem(
  { namespace, name, port }: ServiceReference,
  spec: Loose,
  place: string,
  reader: ObjectReader,
): Promise<Condition | undefined> {
  const found = (spec.ports ?? []).find((one: Loose) => one.port === port)
  if (found === undefined) {
    return condition('False', 'ServicePortError', `${place} is not listening on port ${port}`)
  }
  const endpoints = await reader.get('', 'endpoints', namespace, name)
  if (endpoints === undefined) {
    return condition('False', 'EndpointsNotFound', `cannot find endpoints for ${place}`)
  }
  const portName: string = found.name ?? ''
  const active = (endpoints.subsets ?? []).some(
    ({ addresses = [], ports = [] }: Loose) =>
      addresses.length > 0 && ports.some((one: Loose) => (one.name ?? '') === portName),
  )
  if (active) return undefined
  const message = `endpoints for ${place} have no addresses with port name ${JSON.stringify(portName)}`
  return condition('False', 'MissingEndpoints', message)
}

/**
 * The status with the new condition; undefined if nothing changes. The transition time changes only
 * with the condition's status.
 */
export function withCondition(
  status: Loose | undefined,
  next: Condition,
  now: string,
): Loose | undefined {
  const conditions: Loose[] = status?.conditions ?? []
  const at = conditions.findIndex(({ type }) => type === next.type)
  const old = conditions[at]
  const same = old?.status === next.status
  if (same && old.reason === next.reason && old.message === next.message) return undefined
  const made = {
    ...old,
    type: next.type,
    status: next.status,
    lastTransitionTime: same ? old.lastTransitionTime : now,
    reason: next.reason,
    message: next.message,
  }
  const changed = at === -1 ? [...conditions, made] : conditions.with(at, made)
  return { ...status, conditions: changed }
}
