/**
 * Group versions that aggregated servers serve: their list, their availability, and forwarding. A
 * forwarded request names its user in headers, and our client certificate vouches for them. Such
 * headers from the client are removed. Discovery lists the local group versions; this class adds
 * the remote ones and orders them.
 */
import type { Identity } from '#access/identity.ts'
import { unnamedServers } from '#access/server-identity.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { GroupVersion } from '#kinds/catalog.ts'
import type { Priority } from '#discovery/group-order.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Exchange } from '#http/exchange.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import type { RequestTarget } from '#http/request/request-target.ts'
import type { Backend, Trust } from '#http/connect/backend.ts'
import type { Passing } from '#http/connect/forward.ts'
import type { IsIdentityHeader, PassedHeaders } from '#http/connect/passed-headers.ts'
import { loadLater } from '#base/load-later.ts'
import { Readable } from 'node:stream'
import {
  apiServices,
  isAvailable,
  managementOf,
  type ServiceReference,
  serviceOf,
} from './api-service.ts'
import { remoteUserHeaders } from './remote-user.ts'
import { NoSuchPlace, type ResolveService } from './service-address.ts'

/** The modules for forwarding are loaded at the first forwarded request. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  backend: later<typeof import('#http/connect/backend.ts')>('#http/connect/backend'),
  forward: later<typeof import('#http/connect/forward.ts')>('#http/connect/forward'),
  headers: later<typeof import('#http/connect/passed-headers.ts')>('#http/connect/passed-headers'),
  options: later<typeof import('#http/connect/connect-options.ts')>(
    '#http/connect/connect-options',
  ),
  path: later<typeof import('#http/connect/proxy-path.ts')>('#http/connect/proxy-path'),
  tunnel: later<typeof import('#http/connect/tunnel.ts')>('#http/connect/tunnel'),
}

export interface AggregationParts {
  readonly reader: ObjectReader
  readonly resolve: ResolveService
  /**
   * Our client certificate for aggregated servers. It returns the same object until the certificate
   * changes.
   */
  readonly proxyClient: () => Identity
  readonly isIdentityHeader: IsIdentityHeader
  readonly stopping: AbortSignal
  /** Whether aggregated servers get the uid of the user. */
  readonly showsUid?: boolean
  /** Whether clients get redirects from an aggregated server, instead of an error. */
  readonly passesRedirects?: boolean
}

export interface Remote {
  readonly name: string
  readonly service: ServiceReference
  readonly available: boolean
  /** How its certificate is verified. */
  readonly trust: Trust
  /** The reason why the CA bundle cannot be read. */
  readonly trouble: string | undefined
}

/** A discovery request is cheap, so a server that takes longer is unavailable. */
const discoveryTimeoutMs = 5000

const sameTrust = (a: Trust, b: Trust): boolean =>
  JSON.stringify({ ...a, unnamed: undefined }) === JSON.stringify({ ...b, unnamed: undefined })

export class Aggregation {
  readonly #parts: AggregationParts
  readonly #services = new Map<string, KubeObject>()
  /** The keys are `group/version`. */
  readonly #remotes = new Map<string, Remote>()
  readonly #trusts = new WeakMap<Trust, { readonly shown: Identity; readonly trust: Trust }>()
  /** Local group versions whose APIService a client deleted. */
  readonly #dropped = new Set<string>()
  #generation = 0
  #stop = () => {}

  constructor(parts: AggregationParts) {
    this.#parts = parts
  }

  /** Increases with every change that discovery shows. */
  get generation(): number {
    return this.#generation
  }

  async follow(): Promise<void> {
    this.#stop = await this.#parts.reader.follow(apiServices.group, apiServices.plural, {
      changed: (object) => this.#changed(object),
      deleted: (object) => this.#deleted(object),
    })
  }

  stop(): void {
    this.#stop()
  }

  #changed(object: KubeObject): void {
    const key = keyOf(object)
    const before = this.#services.get(key)
    this.#services.set(key, object)
    this.#dropped.delete(key)
    const shown = (one: KubeObject | undefined) =>
      one &&
      [
        one.spec?.groupPriorityMinimum,
        one.spec?.versionPriority,
        serviceOf(one) === undefined,
      ].join()
    if (shown(before) !== shown(object)) this.#generation++
    const service = serviceOf(object)
    if (service === undefined) this.#remotes.delete(key)
    else this.#remotes.set(key, this.#remoteOf(object, service, this.#remotes.get(key)))
  }

  #deleted(object: KubeObject): void {
    const key = keyOf(object)
    this.#services.delete(key)
    this.#remotes.delete(key)
    // APIServices of CustomResourceDefinitions are created again automatically.
    if (managementOf(object) === 'onstart') this.#dropped.add(key)
    this.#generation++
  }

  #remoteOf(object: KubeObject, service: ServiceReference, before: Remote | undefined): Remote {
    const { caBundle, insecureSkipTLSVerify } = object.spec ?? {}
    const ca = caBundle ? Buffer.from(caBundle, 'base64').toString('latin1') : undefined
    const wanted: Trust = {
      insecure: insecureSkipTLSVerify === true,
      serverName: `${service.name}.${service.namespace}.svc`,
      unnamed: unnamedServers.aggregated,
      ...(ca !== undefined && { ca }),
    }
    const same = before !== undefined && sameTrust(before.trust, wanted)
    return {
      name: object.metadata.name ?? '',
      service,
      available: isAvailable(object),
      trust: same ? before.trust : wanted,
      trouble:
        ca === undefined || ca.includes('-----BEGIN CERTIFICATE-----')
          ? undefined
          : 'unable to load root certificates: unable to parse bytes as PEM block',
    }
  }

  /** The aggregated server of the target's group version, if there is one. */
  remoteFor({ prefix, group, version }: RequestTarget): Remote | undefined {
    if (this.#remotes.size === 0 || prefix === '' || version === '') return undefined
    return this.remoteOf(group, version)
  }

  remoteOf(group: string, version: string): Remote | undefined {
    return this.#remotes.size === 0 ? undefined : this.#remotes.get(`${group}/${version}`)
  }

  /** Whether the path of a URL belongs to an aggregated server, which may accept an upgrade. */
  hasAddress(url: string): boolean {
    if (this.#remotes.size === 0) return false
    const [, prefix, group, version] = url.split(/[/?]/, 4)
    return this.#remotes.has(prefix === 'api' ? `/${group}` : `${group}/${version}`)
  }

  /** All group versions in discovery: local ones that were not deleted, and registered ones. */
  groupVersions(local: readonly GroupVersion[]): GroupVersion[] {
    const shown = new Map<string, GroupVersion>()
    for (const one of local) {
      const key = `${one.group}/${one.version}`
      if (!this.#dropped.has(key)) shown.set(key, one)
    }
    for (const [key, { spec }] of this.#services) {
      if (!shown.has(key))
        shown.set(key, { group: spec?.group ?? '', version: spec?.version ?? '' })
    }
    return [...shown.values()]
  }

  priorityOf(group: string, version: string): Priority | undefined {
    const spec = this.#services.get(`${group}/${version}`)?.spec
    if (spec === undefined) return undefined
    return { group: spec.groupPriorityMinimum ?? 0, version: spec.versionPriority ?? 0 }
  }

  /** The aggregated servers whose documents are merged into ours. */
  remotes(): Iterable<readonly [groupVersion: string, remote: Remote]> {
    return this.#remotes
  }

  async backendOf(remote: Remote): Promise<Backend> {
    const { host, port } = await this.#parts.resolve(remote.service)
    return { secure: true, host, port, trust: this.#trustOf(remote) }
  }

  /**
   * The trust settings with our client certificate. It returns the same object until one of them
   * changes, because connections are cached by it.
   */
  #trustOf({ trust }: Remote): Trust {
    const shown = this.#parts.proxyClient()
    let known = this.#trusts.get(trust)
    if (known?.shown !== shown)
      this.#trusts.set(trust, (known = { shown, trust: { ...trust, ...shown } }))
    return known.trust
  }

  async pass(exchange: Exchange, remote: Remote): Promise<void> {
    const { wire, target } = exchange
    if (!remote.available) return answerText(exchange, 503, 'service unavailable')
    if (remote.trouble !== undefined) return answerText(exchange, 500, remote.trouble)
    let backend: Backend
    try {
      backend = await this.backendOf(remote)
    } catch (error) {
      if (!(error instanceof NoSuchPlace)) throw error
      return answerText(exchange, 503, 'service unavailable')
    }
    const upgrading = wire.upgrade !== undefined
    // kube-apiserver encodes the URL again: it removes needless escapes and sorts the parameters.
    const { encodePath, cleanAsSent } = load.path()
    const encoded = encodePath(target.path)
    const query = load.options().encodeQuery([...exchange.query])
    const path = query === '' ? encoded : `${encoded}?${query}`
    const place = load.backend().placeOf(backend)
    const headers: PassedHeaders = {
      ...load.headers().requestHeaders(exchange, this.#parts.isIdentityHeader, upgrading),
      ...remoteUserHeaders(exchange.user, this.#parts.showsUid),
      host: place,
      'audit-id': exchange.auditId,
    }
    if (upgrading) {
      const refuse = (words: string) => answerText(exchange, 503, words)
      return load.tunnel().tunnel(exchange, {
        backend,
        path,
        headers,
        stopping: this.#parts.stopping,
        refuse,
      })
    }
    headers['x-forwarded-host'] = place
    headers['x-forwarded-proto'] = 'https'
    await load.forward().forward(exchange, {
      backend,
      path,
      headers,
      requestedPath: cleanAsSent(target.path),
      ...(!target.isResource && { answerTimeoutMs: discoveryTimeoutMs }),
      ...(target.verb === 'watch' && { stopping: this.#parts.stopping }),
      unreachable: (words) => answerText(exchange, 503, `error trying to reach service: ${words}`),
      look: (passing) =>
        this.#parts.passesRedirects ? passing : refuseRedirects(exchange, passing),
    })
  }
}

const keyOf = ({ spec }: KubeObject): string => `${spec?.group ?? ''}/${spec?.version ?? ''}`

/** Replaces a redirect of an aggregated server by an error. */
function refuseRedirects(exchange: Exchange, passing: Passing): Passing {
  const { status, headers, body } = passing
  if (status < 300 || status > 399 || headers.location === undefined) return passing
  body.destroy()
  const text = Buffer.from('the backend attempted to redirect this request, which is not permitted')
  const ownHeaders = {
    ...answerHeaders(exchange, 'text/plain; charset=utf-8'),
    'content-length': text.length,
  }
  return { status: 502, headers: ownHeaders, body: Readable.from([text]) }
}

function answerText(exchange: Exchange, status: number, text: string): void {
  const body = Buffer.from(`${text}\n`)
  exchange.status = status
  exchange.answeredBytes = body.length
  const headers = {
    ...answerHeaders(exchange, 'text/plain; charset=utf-8'),
    'x-content-type-options': 'nosniff',
  }
  exchange.wire.answer(status, headers, body)
}
