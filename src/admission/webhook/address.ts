/**
 * The address of a webhook: a URL, or an endpoint of a service in the cluster. The service of this
 * server itself needs no lookup.
 */
import type { Loose } from '#api/object-meta.ts'
import { cleanPath } from '#base/clean-path.ts'
import type { ObjectReader } from '#kinds/reader.ts'

const portDefault = 443
const ownHost = 'kubernetes.default.svc:443'

/** The credentials with which this server calls itself: URL, server name and certificate. */
export interface Loopback {
  readonly url: string
  readonly serverName: string
  /** PEM: both sides present this certificate. */
  readonly cert: string
  readonly key: string
}

/** Whether the webhook is this server. Such calls use the loopback credentials. */
export const isOwn = ({ host }: Pick<Address, 'host'>): boolean => host === ownHost

export interface Address {
  /** The URL to connect to. */
  readonly url: URL
  /**
   * The host name of the webhook. Its certificate is verified for this name; logs and configured
   * credentials use it too.
   */
  readonly host: string
  readonly serverName: string | undefined
  /** The URL in errors. */
  readonly shown: string
}

/** `Post "https://…": why`, the prefix that Go's HTTP client puts before an error. */
export const posted = ({ shown }: Pick<Address, 'shown'>, why: string): string =>
  `Post ${JSON.stringify(shown)}: ${why}`

/** Throws if the service has no endpoint or the URL is invalid. */
export async function addressOf(
  client: Loose,
  timeoutMs: number,
  reader: ObjectReader,
  loopback: Pick<Loopback, 'url'>,
): Promise<Address> {
  const query = `?timeout=${Math.ceil(timeoutMs / 1000)}s`
  if (client.service) return serviceAddress(client.service, query, reader, loopback)
  if (!client.url) throw new Error('webhook configuration must have either service or URL')
  const url = URL.parse(client.url)
  if (url === null) throw new Error(`Unparsable URL: parse ${JSON.stringify(client.url)}`)
  url.pathname = cleaned(/^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(client.url)?.[1] ?? url.pathname)
  url.search = query
  return {
    url,
    host: url.port === '' ? `${url.host}:443` : url.host,
    serverName: undefined,
    shown: url.href,
  }
}

/** As kube-apiserver joins it to the root of the server. */
const cleaned = (path: string): string => cleanPath(`/${path}`)

async function serviceAddress(
  { namespace, name, path = '', port = portDefault }: Loose,
  query: string,
  reader: ObjectReader,
  loopback: Pick<Loopback, 'url'>,
): Promise<Address> {
  const serverName = `${name}.${namespace}.svc`
  const host = `${serverName}:${port}`
  const named = new URL(`https://${host}`)
  named.pathname = cleaned(path)
  const shown = `https://${host}${named.pathname}${query}`
  const place = isOwn({ host })
    ? loopback.url
    : await endpointOf(namespace, name, port, reader).catch((error: Error) => {
        throw new Error(posted({ shown }, error.message))
      })
  const url = new URL(place)
  url.pathname = named.pathname
  url.search = query
  return { url, host, serverName, shown }
}

const urlOf = (host: string, port: number): string =>
  `https://${host.includes(':') ? `[${host}]` : host}:${port}`

async function endpointOf(
  namespace: string,
  name: string,
  port: number,
  reader: ObjectReader,
): Promise<string> {
  const service = await reader.get('', 'services', namespace, name)
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
  const { type, externalName, ports = [] } = service.spec ?? {}
  if (type === 'ExternalName') return urlOf(externalName, port)
  const found = (ports as Loose[]).find((one) => one.port === port)
  if (found === undefined)
    throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
  const endpoints = await reader.get('', 'endpoints', namespace, name)
  for (const { addresses = [], ports: there = [] } of (endpoints?.subsets ?? []) as Loose[]) {
    const target = (there as Loose[]).find((one) => (one.name ?? '') === (found.name ?? ''))
    if (target === undefined || addresses.length === 0) continue
    const [{ ip }] = addresses
    return urlOf(ip, target.port)
  }
  throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
}
