/** The backend of a proxy request for a pod, a service or a node. */
import type { Loose } from '#api/object-meta.ts'
import { badRequest, notFound, serviceUnavailable } from '#api/status-error.ts'
import { byText } from '#base/by-text.ts'
import type { RequestTarget } from '#http/request/request-target.ts'
import { requireAllowed, resolveAllowed } from './allowed-address.ts'
import { type Backend, noTrust } from './backend.ts'
import type { ConnectParts } from './connect-parts.ts'
import { kubeletOf } from './kubelet.ts'
import { parseNamedTarget } from './named-target.ts'
import { serviceEndpoint } from './service-endpoint.ts'

const portOf = (text: string, secure: boolean): number => {
  if (text === '') return secure ? 443 : 80
  const port = Number(text)
  if (!/^[0-9]+$/.test(text)) throw badRequest(`invalid port ${JSON.stringify(text)}`)
  if (port > 65_535) {
    const words = `dial tcp: address ${text}: invalid port`
    throw serviceUnavailable(`error trying to reach service: ${words}`)
  }
  return port
}

export function proxyBackend(target: RequestTarget, parts: ConnectParts): Promise<Backend> {
  switch (target.resource) {
    case 'pods':
      return podBackend(target, parts)
    case 'services':
      return serviceBackend(target, parts)
    default:
      return nodeBackend(target, parts)
  }
}

async function podBackend(
  { namespace, name: id }: RequestTarget,
  parts: ConnectParts,
): Promise<Backend> {
  const named = parseNamedTarget(id)
  if (named === undefined) throw badRequest(`invalid pod request ${JSON.stringify(id)}`)
  const pod = await parts.reader.get('', 'pods', namespace, named.name)
  if (pod === undefined) throw notFound({ group: '', plural: 'pods' }, named.name)
  const first = (pod.spec?.containers ?? []).find((one: Loose) => (one.ports ?? []).length > 0)
  const port = named.port || String(first?.ports[0].containerPort ?? '')
  const host: string = pod.status?.podIPs?.[0]?.ip ?? ''
  requireAllowed(host, parts.proxyLoopbackAllowed)
  const secure = named.scheme === 'https'
  return { secure, host, port: portOf(port, secure), trust: noTrust }
}

async function serviceBackend(
  { namespace, name }: RequestTarget,
  parts: ConnectParts,
): Promise<Backend> {
  const { reader, proxyLoopbackAllowed, random } = parts
  const { scheme, host, port } = await serviceEndpoint(
    reader,
    namespace,
    name,
    proxyLoopbackAllowed,
    random,
  )
  return { secure: scheme === 'https', host, port, trust: noTrust }
}

/** The kubelet with its trust settings, unless the request names another port of the node. */
async function nodeBackend({ name: id }: RequestTarget, parts: ConnectParts): Promise<Backend> {
  const named = parseNamedTarget(id)
  if (named === undefined) throw badRequest(`invalid node request ${JSON.stringify(id)}`)
  const kubelet = await kubeletOf(parts, named.name, 'nodes')
  const address = await resolveAllowed(kubelet.host, parts.proxyLoopbackAllowed)
  if (named.port === '' || named.port === String(kubelet.port)) {
    return { ...kubelet, host: address, trust: trustFor(kubelet, address) }
  }
  const secure = named.scheme === 'https'
  return { secure, host: address, port: portOf(named.port, secure), trust: noTrust }
}

/**
 * The number of node names whose trust settings, and so connections, are cached: the nodes of the
 * largest clusters.
 */
const namesMax = 5000

const trustByName = new WeakMap<object, (name: string) => Backend['trust']>()

/** The resolved address is called, and the name is what the certificate must have. */
export function trustFor({ host, trust }: Backend, address: string): Backend['trust'] {
  if (host === address) return trust
  let named = trustByName.get(trust)
  if (named === undefined) {
    named = byText((serverName) => ({ ...trust, serverName }), namesMax)
    trustByName.set(trust, named)
  }
  return named(host)
}
