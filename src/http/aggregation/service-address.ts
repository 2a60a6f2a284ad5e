/**
 * The address of a service: its cluster IP, or one of its endpoints if the operator configured that
 * this machine cannot reach cluster IPs.
 */
import { isIPv6 } from 'node:net'
import type { Loose } from '#api/object-meta.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { ServiceReference } from './api-service.ts'

export interface Place {
  readonly host: string
  readonly port: number
}

/** The service has no such address, in kube-apiserver's words. */
export class NoSuchPlace extends Error {
  override name = 'NoSuchPlace'
}

export interface AddressParts {
  readonly reader: ObjectReader
  /** Whether to call endpoints instead of the cluster IP. */
  readonly byEndpoints: boolean
  /** The address of this server, which the `kubernetes` service refers to. */
  readonly ownPlace: () => Place
  readonly random: () => number
}

export type ResolveService = (service: ServiceReference) => Promise<Place>

export const urlOf = ({ host, port }: Place): string =>
  `https://${isIPv6(host) ? `[${host}]` : host}:${port}`

const quoted = (name: string) => JSON.stringify(name)

export function serviceResolver(parts: AddressParts): ResolveService {
  return async (reference) => {
    const { namespace, name, port } = reference
    if (namespace === 'default' && name === 'kubernetes' && port === 443) return parts.ownPlace()
    const service = await parts.reader.get('', 'services', namespace, name)
    if (service === undefined) throw new NoSuchPlace(`service ${quoted(name)} not found`)
    const spec = service.spec ?? {}
    return parts.byEndpoints ? endpointOf(parts, spec, reference) : clusterAddress(spec, reference)
  }
}

const routed = new Set(['ClusterIP', 'LoadBalancer', 'NodePort'])

function portOf(spec: Loose, { name, port }: ServiceReference): Loose {
  const found = (spec.ports ?? []).find((one: Loose) => one.port === port)
  if (found !== undefined) return found
  throw new NoSuchPlace(`no service port ${port} found for service ${quoted(name)}`)
}

function clusterAddress(spec: Loose, reference: ServiceReference): Place {
  if (spec.type === 'ClusterIP' && spec.clusterIP === 'None') {
    throw new NoSuchPlace('cannot route to service with ClusterIP "None"')
  }
  if (routed.has(spec.type)) return { host: spec.clusterIP, port: portOf(spec, reference).port }
  if (spec.type === 'ExternalName') return { host: spec.externalName, port: reference.port }
  throw new NoSuchPlace(`unsupported service type ${quoted(spec.type ?? '')}`)
}

async function endpointOf(
  parts: AddressParts,
  spec: Loose,
  reference: ServiceReference,
): Promise<Place> {
  const { namespace, name } = reference
  const port = portOf(spec, reference)
  if (!routed.has(spec.type))
    throw new NoSuchPlace(`unsupported service type ${quoted(spec.type ?? '')}`)
  const endpoints = await parts.reader.get('', 'endpoints', namespace, name)
  if (endpoints === undefined) throw new NoSuchPlace(`endpoints ${quoted(name)} not found`)
  const subsets: Loose[] = endpoints.subsets ?? []
  const first = Math.floor(parts.random() * subsets.length)
  for (let i = 0; i < subsets.length; i++) {
    const { addresses = [], ports = [] } = subsets[(first + i) % subsets.length]
    const named = ports.find((one: Loose) => (one.name ?? '') === (port.name ?? ''))
    if (addresses.length === 0 || named === undefined) continue
    return { host: addresses[Math.floor(parts.random() * addresses.length)].ip, port: named.port }
  }
  throw new NoSuchPlace(`no endpoints available for service ${quoted(name)}`)
}
