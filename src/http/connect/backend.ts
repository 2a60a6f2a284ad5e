/**
 * Where a request goes on to, and how: one address, one port, and what TLS must prove. Never more
 * than that one place.
 */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { timerMsMax } from '#base/clock.ts'
import { identityCheck, type Tally } from '#access/server-identity.ts'

export interface Backend {
  readonly secure: boolean
  /** An address or a name, without brackets. */
  readonly host: string
  readonly port: number
  readonly trust: Trust
  /** How a name is looked up, where not every address will do. */
  readonly lookup?: LookupFunction
}

/**
 * The client certificate for the other side, and the requirements for its certificate; connections
 * are pooled by it.
 */
export interface Trust {
  /** PEM; the machine's authorities where undefined. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** The name its certificate must have, where that is not the host. */
  readonly serverName?: string
  readonly insecure: boolean
  /** How long a connection may take to be made; half a minute where undefined. */
  readonly connectTimeoutMs?: number
  /**
   * Where servers are counted whose certificate has no alternative names; a common name is not
   * enough for them.
   */
  readonly unnamed?: Tally
}

export const noTrust: Trust = { insecure: true }

const connectTimeoutMsDefault = 30_000
/** Idle connections kept to one backend, and how long. */
const idleSocketsMax = 16
const idleMsMax = 90_000
const kept = { keepAlive: true, maxFreeSockets: idleSocketsMax, timeout: idleMsMax }

export const placeOf = ({ host, port }: Pick<Backend, 'host' | 'port'>): string =>
  `${isIPv6(host) ? `[${host}]` : host}:${port}`

export const tlsOptionsOf = (trust: Trust) => ({
  ...(trust.ca !== undefined && { ca: trust.ca }),
  // As webhooks are: what is given to be trusted need not be a root.
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
 * The name that a certificate must have. It is never the name that the client requested, which Node
 * would use by default. Empty for an address, which is then what the certificate must have.
 */
export const serverNameOf = ({ host, trust }: Backend): string =>
  trust.serverName ?? (isIP(host) === 0 ? host : '')

export const connectTimeoutOf = ({ connectTimeoutMs }: Trust): number =>
  Math.min(connectTimeoutMs || connectTimeoutMsDefault, timerMsMax)

const plain = new HttpAgent(kept)
const secureAgents = new WeakMap<Trust, HttpsAgent>()

/** Connections are shared only by requests with the same `Trust` value. */
export function agentOf({ secure, trust }: Backend): HttpAgent {
  if (!secure) return plain
  let agent = secureAgents.get(trust)
  if (agent === undefined) {
    agent = new HttpsAgent({ ...kept, ...tlsOptionsOf(trust) })
    secureAgents.set(trust, agent)
  }
  return agent
}
