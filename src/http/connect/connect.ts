/**
 * Connections to what runs in the cluster: exec, attach and portforward by the kubelet, logs, and the proxy subresources of
 * pods, services and nodes. Admitted, then led to the one place the object names and nowhere else.
 */
import type { KubeObject } from '#api/object-meta.ts'
import {
  ApiError,
  badRequest,
  methodNotAllowed,
  notFound,
  serviceUnavailable,
} from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionChain } from '#admission/chain.ts'
import { type Backend, placeOf } from './backend.ts'
import {
  encodeQuery,
  portsOf,
  type StreamOptions,
  streamOptions,
  streamQuery,
} from './connect-options.ts'
import { forward } from './forward.ts'
import { type KubeletSettings, kubeletOf } from './kubelet.ts'
import { type IsIdentityHeader, requestHeaders } from './passed-headers.ts'
import { containerFor } from './pod-container.ts'
import { podLog } from './pod-log.ts'
import { encodePath, proxyPath } from './proxy-path.ts'
import { proxyBackend } from './proxy-target.ts'
import { rewriteAnswer } from './rewrite-links.ts'
import { tunnel } from './tunnel.ts'

export interface ConnectParts {
  readonly reader: ObjectReader
  readonly admission: AdmissionChain
  readonly kubelet: KubeletSettings
  /** Whether the proxy subresources may lead to this machine itself: for tests, never for a server that others use. */
  readonly proxyLoopbackAllowed: boolean
  readonly isIdentityHeader: IsIdentityHeader
  readonly stopping: AbortSignal
  readonly random: () => number
  /** How this server calls itself. */
  readonly userAgent: string
}

const streamMethods = new Set(['GET', 'POST'])
const proxyMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

const connections = new Set([
  'pods/exec',
  'pods/attach',
  'pods/portforward',
  'pods/proxy',
  'pods/log',
  'services/proxy',
  'nodes/proxy',
])

/** Whether this is a connection rather than an object. */
export const isConnection = ({ group, plural }: Kind, subresource: string): boolean =>
  group === '' && connections.has(`${plural}/${subresource}`)

/** Addresses where a client may ask to leave HTTP. */
export const leavesHttp = (url: string): boolean =>
  /^\/api\/v1\/(namespaces\/[^/?]+\/)?(pods|services|nodes)\/[^/?]+\/(exec|attach|portforward|proxy)([/?]|$)/.test(
    url,
  )

export function requireConnectMethod(subresource: string, method: string): void {
  const allowed =
    subresource === 'proxy' ? proxyMethods : subresource === 'log' ? logMethods : streamMethods
  if (!allowed.has(method)) throw methodNotAllowed()
}
const logMethods = new Set(['GET'])

export async function connect(exchange: Exchange, kind: Kind, parts: ConnectParts): Promise<void> {
  const { subresource } = exchange.target
  if (subresource === 'log') return podLog(exchange, parts)
  if (exchange.query.getAll('dryRun').length > 0) throw badRequest('dryRun is not supported')
  if (subresource === 'proxy') return connectProxy(exchange, kind, parts)
  return connectStream(exchange, kind, parts)
}

async function admit(
  exchange: Exchange,
  kind: Kind,
  options: object,
  parts: ConnectParts,
): Promise<void> {
  const { namespace, name, subresource } = exchange.target
  const sub = kind.subresources.get(subresource)
  const object = { kind: sub?.kind, apiVersion: 'v1', ...options } as unknown as KubeObject
  const request = {
    operation: 'CONNECT' as const,
    kind,
    subresource,
    namespace,
    name,
    object,
    old: undefined,
    user: exchange.user,
    dryRun: false,
    options: {},
    warnings: exchange.warnings,
    auditAnnotations: exchange.auditAnnotations,
  }
  await parts.admission.mutate(request)
  await parts.admission.validate(request)
}

/** Only what is set, as the options object is written. */
const shown = ({ command, ...rest }: StreamOptions): object => ({
  ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value)),
  ...(command.length > 0 && { command }),
})

async function connectStream(exchange: Exchange, kind: Kind, parts: ConnectParts): Promise<void> {
  const { namespace, name, subresource } = exchange.target
  const { query } = exchange
  const forwards = subresource === 'portforward'
  const options = streamOptions(query)
  if (subresource === 'attach') Object.assign(options, { command: [] })
  const ports = forwards ? portsOf(query) : []
  await admit(
    exchange,
    kind,
    forwards ? { ...(ports.length > 0 && { ports }) } : shown(options),
    parts,
  )
  const pod = await parts.reader.get('', 'pods', namespace, name)
  if (pod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const container = forwards ? '' : `/${containerFor(pod, options.container)}`
  const nodeName: string = pod.spec?.nodeName ?? ''
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`)
  const backend = await kubeletOf(parts, nodeName, 'pods')
  const verb = forwards ? 'portForward' : subresource
  const asked = forwards
    ? encodeQuery(ports.length > 0 ? [['port', ports.join(',')]] : [])
    : streamQuery(options)
  const path = `${encodePath(`/${verb}/${namespace}/${name}${container}`)}${asked && `?${asked}`}`
  if (exchange.wire.upgrade === undefined) throw badRequest('Upgrade request required')
  await openTunnel(exchange, backend, path, parts)
}

function openTunnel(
  exchange: Exchange,
  backend: Backend,
  path: string,
  parts: ConnectParts,
): Promise<void> {
  return tunnel(exchange, {
    backend,
    path,
    headers: requestHeaders(exchange, parts.isIdentityHeader, true),
    stopping: parts.stopping,
    refuse(words) {
      throw new ApiError(500, '', words)
    },
  })
}

async function connectProxy(exchange: Exchange, kind: Kind, parts: ConnectParts): Promise<void> {
  const { target, wire } = exchange
  const mark = wire.url.indexOf('?')
  const query = mark === -1 ? '' : wire.url.slice(mark)
  const path = proxyPath(target.rest, target.path)
  await admit(exchange, kind, path === '' ? {} : { path }, parts)
  const backend = await proxyBackend(target, parts)
  const encoded = encodePath(path)
  if (wire.upgrade !== undefined)
    return openTunnel(exchange, backend, `${encoded || '/'}${query}`, parts)
  if (path === '') {
    // Relative links of what is behind work only below a slash.
    exchange.status = 301
    return wire.answer(301, { location: `${encodePath(target.path)}/${query}` }, undefined)
  }
  const headers = requestHeaders(exchange, parts.isIdentityHeader, false)
  headers['x-forwarded-uri'] = target.path
  const place = {
    prefix: target.path.endsWith(path)
      ? target.path.slice(0, target.path.length - path.length)
      : target.path,
    backendHost: placeOf(backend),
    requestHost: String(headers.host),
  }
  await forward(exchange, {
    backend,
    path: `${encoded}${query}`,
    headers,
    unreachable(words) {
      throw serviceUnavailable(`error trying to reach service: ${words}`)
    },
    look: (passing) => rewriteAnswer(passing, place),
  })
}
