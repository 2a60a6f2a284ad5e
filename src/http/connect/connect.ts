/**
 * Connections to the cluster: exec, attach, portforward and logs through the kubelet, and the proxy
 * subresources of pods, services and nodes. This module recognises them; their handlers are loaded
 * on first use.
 */
import { methodNotAllowed } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import type { Exchange } from '#http/exchange.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ConnectParts } from './connect-parts.ts'

const loadLeadOn = loadLater<typeof import('./connect-handlers.ts')>(
  import.meta.url,
  './connect-handlers',
)

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

/** Whether the subresource is a connection rather than an object. */
export const isConnection = ({ group, plural }: Kind, subresource: string): boolean =>
  group === '' && connections.has(`${plural}/${subresource}`)

/** Addresses where a client may request an upgrade. */
export const mayUpgrade = (url: string): boolean =>
  connectionAddress.test(url) || watchAddress.test(url)
const connectionAddress =
  /^\/api\/v1\/(namespaces\/[^/?]+\/)?(pods|services|nodes)\/[^/?]+\/(exec|attach|portforward|proxy|log)([/?]|$)/
const watchAddress = /^\/apis?\/[^?]*(\/watch\/|\?(.*&)?watch=)/

export function requireConnectMethod(subresource: string, method: string): void {
  const allowed =
    subresource === 'proxy' ? proxyMethods : subresource === 'log' ? logMethods : streamMethods
  if (!allowed.has(method)) throw methodNotAllowed()
}
const logMethods = new Set(['GET'])

export const connect = (exchange: Exchange, kind: Kind, parts: ConnectParts): Promise<void> =>
  loadLeadOn().handleConnection(exchange, kind, parts)
