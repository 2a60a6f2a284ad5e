/**
 * The address of a node's kubelet: from the node's status, by the operator's order of preference.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, badRequest, notFound } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { isAllowed, kubeletLookup } from './allowed-address.ts'
import type { Backend, Trust } from './backend.ts'
import { isIP } from 'node:net'

export interface KubeletSettings {
  readonly trust: Trust
  /** As `trust`, but without verifying the kubelet's certificate, for clients that request that. */
  readonly blindTrust: Trust
  readonly addressTypes: readonly string[]
}

const portDefault = 10250
const lookup = kubeletLookup()

/** `requested` is the resource of the request, which the 404 for a missing node names. */
export async function kubeletOf(
  { reader, kubelet }: { readonly reader: ObjectReader; readonly kubelet: KubeletSettings },
  nodeName: string,
  requested: 'pods' | 'nodes',
): Promise<Backend> {
  const node = await reader.get('', 'nodes', '', nodeName)
  if (node === undefined) throw notFound({ group: '', plural: requested }, nodeName)
  const host = preferredAddress(node, kubelet.addressTypes)
  // A kubelet may run on this machine, but not on a link-local or unspecified address.
  if (isIP(host) !== 0 && !isAllowed(host, true)) throw badRequest('address not allowed')
  const port: number = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  const place = { secure: true, host, port: port > 0 ? port : portDefault, trust: kubelet.trust }
  return isIP(host) !== 0 ? place : { ...place, lookup }
}

function preferredAddress(node: KubeObject, types: readonly string[]): string {
  const addresses: Loose[] = node.status?.addresses ?? []
  for (const type of types) {
    const found = addresses.find((address) => address.type === type)
    if (found !== undefined) return found.address ?? ''
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
  throw new ApiError(500, '', `no preferred addresses found; known addresses: [${known}]`)
}
