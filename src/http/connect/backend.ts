/** The destination of a forwarded request: one host, one port, and the requirements of TLS. */
import type { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { http } from '#base/node-http.ts'
import { timerMsMax } from '#base/clock.ts'
import { identityCheck, type Tally } from '#access/server-identity.ts'

export interface Backend {
  readonly secure: boolean
  /** An address or a name, without brackets. */
  readonly host: string
  readonly port: number
  readonly trust: Trust
  /** Resolves the name if not every address is allowed. */
  readonly lookup?: LookupFunction
}

/**
 * Our client certificate and the requirements for the backend's certificate. Connections are pooled
 * per value.
 */
export interface Trust {
  /** PEM; undefined means the system's certificate authorities. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** The name in the backend's certificate, if it differs from the host. */
  readonly serverName?: string
  readonly insecure: boolean
  /** The connect timeout; default: 30 seconds. */
  readonly connectTimeoutMs?: number
  /**
   * Counts backends whose certificate has no subject alternative names. They are rejected, because
   * a common name is not sufficient.
   */
  readonly unnamed?: Tally
}

export const noTrust: Trust = { insecure: true }

const connectTimeoutMsDefault = 30_000
/** Limits of the idle connections to one backend. */
const idleSocketsMax = 16
const idleMsMax = 90_000
const kept = { keepAlive: true, maxFreeSockets: idleSocketsMax, timeout: idleMsMax }

export const placeOf = ({ host, port }: Pick<Backend, 'host' | 'port'>): string =>
  `${isIPv6(host) ? `[${host}]` : host}:${port}`

export const tlsOptionsOf = (trust: Trust) => ({
  ...(trust.ca !== undefined && { ca: trust.ca }),
  // As for webhooks: a trusted certificate need not be a root.
  allowPartialTrustChain: true,
  ...(trust.cert !== undefined && { cert: trust.cert }),
  ...(trust.key !== undefined && { key: trust.key }),
  ...(trust.serverName !== undefined && { servername: trust.serverName }),
  rejectUnauthorized: !trust.insecure,
  ...(trust.unnamed !== undefined &&
    !trust.insecure && { checkServerIdentity: identityCheck(trust.unnamed) }),
  ALPNProtocols: ['http/1.1'],
})

/**
 * The name that the certificate must have. Node's default would be the host that the client
 * requested. Empty if the host is an IP address, which the certificate must then contain.
 */
export const serverNameOf = ({ host, trust }: Backend): string =>
  trust.serverName ?? (isIP(host) === 0 ? host : '')

export const connectTimeoutOf = ({ connectTimeoutMs }: Trust): number =>
  Math.min(connectTimeoutMs || connectTimeoutMsDefault, timerMsMax)

const plain = new http.Agent(kept)
const secureAgents = new WeakMap<Trust, HttpsAgent>()

/** Requests share connections only if they have the same `Trust` value. */
export function agentOf({ secure, trust }: Backend): Agent {
  if (!secure) return plain
  let agent = secureAgents.get(trust)
  if (agent === undefined) {
    agent = new HttpsAgent({ ...kept, ...tlsOptionsOf(trust) })
    secureAgents.set(trust, agent)
  }
  return agent
}
