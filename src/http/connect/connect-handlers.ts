/**
 * Handlers of connections, which lead to the one place that the object names: streams by the
 * kubelet, logs, and the proxy subresources. connect.ts defines which requests are connections.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  ApiError,
  badRequest,
  forbiddenRequest,
  notFound,
  serviceUnavailable,
} from '#api/status-error.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import type { Exchange } from '#http/exchange.ts'
import { attributesOf } from '#http/filters/authorize.ts'
import type { Kind } from '#kinds/kind.ts'
import { type Backend, placeOf } from './backend.ts'
import type { ConnectParts } from './connect-parts.ts'
import {
  encodeQuery,
  portsOf,
  type StreamOptions,
  streamOptions,
  streamQuery,
} from './connect-options.ts'
import { forward } from './forward.ts'
import { kubeletOf } from './kubelet.ts'
import { requestHeaders } from './passed-headers.ts'
import { containerFor } from './pod-container.ts'
import { podLog } from './pod-log.ts'
import { cleanAsSent, encodePath, proxyPath } from './proxy-path.ts'
import { proxyBackend } from './proxy-target.ts'
import { rewriteAnswer } from './rewrite-links.ts'
import { tunnel } from './tunnel.ts'

export async function handleConnection(
  exchange: Exchange,
  kind: Kind,
  parts: ConnectParts,
): Promise<void> {
  const { subresource } = exchange.target
  if (subresource === 'log') return podLog(exchange, parts)
  if (exchange.query.getAll('dryRun').length > 0) throw badRequest('dryRun is not supported')
  if (subresource === 'proxy') return connectProxy(exchange, kind, parts)
  return connectStream(exchange, kind, parts)
}

/** The options as they are admitted: webhooks may change them. */
async function admit(
  exchange: Exchange,
  kind: Kind,
  options: object,
  parts: ConnectParts,
): Promise<Loose> {
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
  return request.object
}

/** Only fields that are set, in kube-apiserver's order; `command` is always present. */
function shown(options: StreamOptions, subresource: string): object {
  const { container } = options
  const on = (['stdin', 'stdout', 'stderr', 'tty'] as const).filter((name) => options[name])
  return {
    ...Object.fromEntries(on.map((name) => [name, true])),
    ...(container !== '' && { container }),
    ...(subresource === 'exec' && { command: options.command.length > 0 ? options.command : null }),
  }
}

const admittedOptions = (given: Loose): StreamOptions => ({
  container: given.container ?? '',
  stdin: given.stdin === true,
  stdout: given.stdout === true,
  stderr: given.stderr === true,
  tty: given.tty === true,
  command: given.command ?? [],
})

/**
 * WebSocket clients open a stream with GET, which is authorized as `get`. A role that only reads
 * pods must not run commands in them, so the user also needs `create`.
 */
async function requireCreate(exchange: Exchange, parts: ConnectParts): Promise<void> {
  const { target, user } = exchange
  if (parts.createAuthorizer === undefined || target.verb === 'create') return
  const attributes = { ...attributesOf(target, user), verb: 'create' }
  const { decision, reason, error } = await parts.createAuthorizer.authorize(attributes)
  if (decision === 'allow') return
  if (error !== undefined) throw new ApiError(500, '', error)
  throw forbiddenRequest({ group: target.group, plural: target.resource }, target.name, reason)
}

async function connectStream(exchange: Exchange, kind: Kind, parts: ConnectParts): Promise<void> {
  const { namespace, name, subresource } = exchange.target
  const { query } = exchange
  const forwards = subresource === 'portforward'
  const wanted = forwards ? portsOf(query) : []
  const given = forwards
    ? { ...(wanted.length > 0 && { ports: wanted }) }
    : shown(streamOptions(query), subresource)
  const admitted = await admit(exchange, kind, given, parts)
  await requireCreate(exchange, parts)
  const options = admittedOptions(admitted)
  const ports: number[] = admitted.ports ?? []
  const pod = await parts.reader.get('', 'pods', namespace, name)
  if (pod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const container = forwards ? '' : `/${containerFor(pod, options.container)}`
  const nodeName: string = pod.spec?.nodeName ?? ''
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`)
  const backend = await kubeletOf(parts, nodeName, 'pods')
  const verb = forwards ? 'portForward' : subresource
  const requested = forwards
    ? encodeQuery(ports.length > 0 ? [['port', ports.join(',')]] : [])
    : streamQuery(subresource === 'attach' ? { ...options, command: [] } : options)
  const path = `${encodePath(`/${verb}/${namespace}/${name}${container}`)}${requested && `?${requested}`}`
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
  const query = mark === -1 || mark === wire.url.length - 1 ? '' : wire.url.slice(mark)
  const requested = proxyPath(target.rest, target.path)
  const admitted = await admit(exchange, kind, requested === '' ? {} : { path: requested }, parts)
  const given: string = admitted.path ?? ''
  const path = given === requested ? requested : cleanAsSent(given)
  const backend = await proxyBackend(target, parts)
  const encoded = encodePath(path)
  if (wire.upgrade !== undefined)
    return openTunnel(exchange, backend, `${encoded || '/'}${query}`, parts)
  if (path === '') {
    // Relative links of the backend's page work only below a slash, so redirect to the path with
    // one.
    exchange.status = 301
    const { 'content-type': _none, ...headers } = answerHeaders(exchange, '')
    const location = `${encodePath(target.path)}/${query}`
    return wire.answer(301, { ...headers, location }, undefined)
  }
  const headers = requestHeaders(exchange, parts.isIdentityHeader, false)
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
    requestedPath: cleanAsSent(`${place.prefix}${path}`),
    unreachable(words) {
      throw serviceUnavailable(`error trying to reach service: ${words}`)
    },
    look: (passing) => rewriteAnswer(passing, place),
  })
}
