/**
 * What leads to other servers, made from the settings: kubelets and what the proxy subresources reach, and aggregated API
 * servers. Certificates are read once, at the start.
 */
import type { Access } from '#access/make-access.ts'
import type { Clock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient } from '#client/client.ts'
import { Aggregation } from '#http/aggregation/aggregation.ts'
import { type BuildMeter, RemoteDocuments } from '#http/aggregation/remote-documents.ts'
import { Prober } from '#http/aggregation/prober.ts'
import { Registration } from '#http/aggregation/registration.ts'
import { serviceResolver } from '#http/aggregation/service-address.ts'
import { keepTrustPublished } from '#http/aggregation/published-trust.ts'
import type { ConnectParts } from '#http/connect/connect-parts.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Facts } from '#kinds/facts.ts'
import { timestamp, type Server } from '#verbs/server.ts'
import { localUrl } from './addresses.ts'
import type { Settings } from './flags.ts'
import { givenAuthorities, givenPair } from './key-pair.ts'

const loadLook = loadLater<typeof import('#http/aggregation/look-at-discovery.ts')>(
  import.meta.url,
  '#http/aggregation/look-at-discovery',
)

/** A client certificate and its key, as calls show them. */
function shownPair(certificate: string | undefined, key: string | undefined) {
  const loaded = givenPair(certificate, key)
  return loaded && { cert: loaded.pair.certificatePem, key: loaded.pair.keyPem }
}

export interface RemoteSurroundings {
  readonly documentBuilt: BuildMeter
  readonly access: Access
  readonly stopping: AbortSignal
  readonly userAgent: string
}

export function connectParts(
  settings: Settings,
  server: Server,
  around: RemoteSurroundings,
): ConnectParts {
  const ca = givenAuthorities(settings.kubeletCertificateAuthority)
  const shown = {
    ...shownPair(settings.kubeletClientCertificate, settings.kubeletClientKey),
    connectTimeoutMs: settings.kubeletTimeoutMs,
  }
  return {
    reader: server.reader,
    admission: server.admission,
    kubelet: {
      trust: { ...shown, ...(ca !== undefined && { ca }), insecure: ca === undefined },
      blindTrust: { ...shown, insecure: true },
      addressTypes: settings.kubeletPreferredAddressTypes,
    },
    proxyLoopbackAllowed: settings.proxyLoopbackAllowed,
    isIdentityHeader: (name) => around.access.isIdentityHeader(name),
    stopping: around.stopping,
    random: Math.random,
    userAgent: around.userAgent,
  }
}

export interface Aggregated {
  readonly aggregation: Aggregation
  readonly documents: RemoteDocuments
  /** Once objects can be written: registers what is served, then watches over what others serve. */
  start(parts: AggregatedParts): Promise<void>
  stop(): void
}

export interface AggregatedParts {
  readonly client: ApiClient
  readonly facts: Facts
  readonly catalog: Catalog
  readonly release: number
  readonly clock: Clock
  /** Our own authority, PEM: it signs client certificates too. */
  readonly ownAuthority: string
  readonly report: (message: string, error: unknown) => void
}

export function aggregated(
  settings: Settings,
  server: Pick<Server, 'reader'>,
  around: RemoteSurroundings,
): Aggregated {
  const { reader } = server
  const proxyClient = shownPair(settings.proxyClientCertFile, settings.proxyClientKeyFile)
  const own = new URL(localUrl(settings))
  const resolve = serviceResolver({
    reader,
    byEndpoints: settings.enableAggregatorRouting,
    ownPlace: () => ({ host: own.hostname.replace(/^\[|\]$/g, ''), port: Number(own.port || 443) }),
    random: Math.random,
  })
  const aggregation = new Aggregation({
    reader,
    resolve,
    proxyClient,
    isIdentityHeader: (name) => around.access.isIdentityHeader(name),
    stopping: around.stopping,
    passesRedirects: !settings.aggregatorRejectForwardingRedirect,
  })
  const documents = new RemoteDocuments(aggregation, around.documentBuilt)
  const stops: (() => void)[] = [() => aggregation.stop(), () => documents.stop()]
  return {
    aggregation,
    documents,
    async start(parts) {
      await aggregation.follow()
      await register(parts)
      const { client, clock, report } = parts
      const prober = new Prober({
        reader,
        client,
        look: (...asked) => loadLook().discoveryLook(resolve, proxyClient)(...asked),
        now: () => timestamp(clock),
        report,
      })
      stops.push(() => prober.stop())
      await prober.start()
      documents.start()
      stops.push(await keepTrustPublished(client, () => trustOf(settings, parts), report))
    },
    stop() {
      for (const stop of stops) stop()
    },
  }

  async function register({
    client,
    facts,
    catalog,
    release,
    report,
  }: AggregatedParts): Promise<void> {
    const builtIn = facts
      .groupVersionsOf(release)
      .filter(({ group, version }) => catalog.hasGroupVersion(group, version))
      .map(({ group, version, groupPriority, versionPriority }) => ({
        group,
        version,
        priority: { group: groupPriority, version: versionPriority },
      }))
    const registration = new Registration({ client, reader, builtIn, report })
    stops.push(() => registration.stop())
    await registration.start()
  }
}

const trustOf = (settings: Settings, { ownAuthority, clock }: AggregatedParts) => ({
  clientAuthorities: [ownAuthority, givenAuthorities(settings.clientCaFile) ?? ''].join('\n'),
  proxy:
    settings.requestheaderClientCaFile === undefined
      ? undefined
      : {
          authorities: givenAuthorities(settings.requestheaderClientCaFile) ?? '',
          usernameHeaders: settings.requestheaderUsernameHeaders,
          groupHeaders: settings.requestheaderGroupHeaders,
          extraHeadersPrefix: settings.requestheaderExtraHeadersPrefix,
          allowedNames: settings.requestheaderAllowedNames,
        },
  now: () => clock.now(),
})
