/** An address behind a service: one of its endpoints, backed by a pod of the same namespace. */
import type { Loose } from '#api/object-meta.ts'
import { badRequest, notFound, serviceUnavailable } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { requireAllowed } from './allowed-address.ts'
import { type NamedTarget, parseNamedTarget } from './named-target.ts'

export interface ServiceEndpoint {
  readonly scheme: NamedTarget['scheme']
  readonly host: string
  readonly port: number
}

export async function serviceEndpoint(
  reader: ObjectReader,
  namespace: string,
  id: string,
  loopbackAllowed: boolean,
  random: () => number,
): Promise<ServiceEndpoint> {
  const target = parseNamedTarget(id)
  if (target === undefined) throw badRequest(`invalid service request ${JSON.stringify(id)}`)
  const { scheme, name } = target
  const portName = await portNameOf(reader, namespace, target)
  const endpoints = await reader.get('', 'endpoints', namespace, name)
  if (endpoints === undefined) throw notFound({ group: '', plural: 'services' }, name)
  const subsets: Loose[] = endpoints.subsets ?? []
  for (const subset of from(subsets, random)) {
    const port = (subset.ports ?? []).find((one: Loose) => (one.name ?? '') === portName)
    if (port === undefined) continue
    for (const address of from(subset.addresses ?? [], random)) {
      if (!(await isBacked(reader, namespace, address))) continue
      requireAllowed(address.ip, loopbackAllowed)
      return { scheme, host: address.ip, port: port.port }
    }
  }
  const requested = subsets.length === 0 ? name : id
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(requested)}`)
}

/** Yields all items, from a random position. */
function* from(list: readonly Loose[], random: () => number): Generator<Loose> {
  const first = Math.floor(random() * list.length)
  for (let i = 0; i < list.length; i++) yield list[(first + i) % list.length]
}

/** A number selects the service port with that number; other texts are port names. */
async function portNameOf(
  reader: ObjectReader,
  namespace: string,
  { name, port }: NamedTarget,
): Promise<string> {
  if (!/^[+-]?[0-9]+$/.test(port)) return port
  const service = await reader.get('', 'services', namespace, name)
  if (service === undefined) throw notFound({ group: '', plural: 'services' }, name)
  const found = (service.spec?.ports ?? []).find((one: Loose) => one.port === Number(port))
  if (found === undefined) {
    throw serviceUnavailable(
      `no service port ${Number(port)} found for service ${JSON.stringify(name)}`,
    )
  }
  return found.name ?? ''
}

/** Users may write Endpoints, so an address is used only if a pod of the namespace has it. */
async function isBacked(reader: ObjectReader, namespace: string, address: Loose): Promise<boolean> {
  const { targetRef, ip } = address
  if (!targetRef || targetRef.namespace !== namespace) return false
  const pod = await reader.get('', 'pods', namespace, targetRef.name ?? '')
  return (pod?.status?.podIPs ?? []).some((one: Loose) => one.ip === ip)
}
