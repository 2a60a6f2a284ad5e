/**
 * Clients for other servers, created from the settings: kubelets, targets of proxy subresources,
 * and aggregated API servers. CA files are read once at start. Client certificates are read again
 * when they are renewed.
 */
import type { Identity } from '#access/identity.ts'
import type { Access } from '#access/make-access.ts'
import type { Clock } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient } from '#client/client.ts'
import { Aggregation } from '#http/aggregation/aggregation.ts'
import { type BuildMeter, RemoteDocuments } from '#http/aggregation/remote-documents.ts'
import { Prober } from '#http/aggregation/prober.ts'
import { Registration } from '#http/aggregation/registration.ts'
import { serviceResolver } from '#http/aggregation/service-address.ts'
import { publishTrust } from '#http/aggregation/published-trust.ts'
import type { ConnectParts } from '#http/connect/connect-parts.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Facts } from '#kinds/facts.ts'
import { timestamp, type Server } from '#verbs/server.ts'
import { localUrl } from './addresses.ts'
import type { Settings } from '#settings/flags.ts'
import { givenAuthorities, givenPair, type Loaded } from './key-pair.ts'

const loadIdentity = loadLater<typeof import('#access/identity.ts')>(
  import.meta.url,
  '#access/identity',
)
const loadLook = loadLater<typeof import('#http/aggregation/probe-discovery.ts')>(
  import.meta.url,
  '#http/aggregation/probe-discovery',
)

/** Reads a client certificate and its key. Returns the same value until the files change. */
function shownPair(
  certificate: string | undefined,
  key: string | undefined,
  monotonicMs?: () => number,
): () => Identity {
  if (certificate === undefined || key === undefined) return () => noIdentity
  const read = () => {
    const { pair } = givenPair(certificate, key) as Loaded
    return { cert: pair.certificatePem, key: pair.keyPem }
  }
  return loadIdentity().identityFrom(read, monotonicMs)
}

const noIdentity: Identity = {}

/**
 * Caches the value made from an identity until the identity changes, because connections are pooled
 * by it.
 */
function following<T>(identity: () => Identity, make: (shown: Identity) => T): () => T {
  let shown = identity()
  let made = make(shown)
  return () => {
    const now = identity()
    if (now !== shown) made = make((shown = now))
    return made
  }
}

export interface RemoteSurroundings {
  readonly documentBuilt: BuildMeter
  readonly access: Access
  readonly stopping: AbortSignal
  readonly userAgent: string
  readonly random: Random
}

export function connectParts(
  settings: Settings,
  server: Server,
  around: RemoteSurroundings,
  monotonicMs?: () => number,
): ConnectParts {
  const ca = givenAuthorities(settings.kubeletCertificateAuthority)
  const { kubeletClientCertificate, kubeletClientKey, kubeletTimeoutMs } = settings
  const shown = shownPair(kubeletClientCertificate, kubeletClientKey, monotonicMs)
  const trusts = following(shown, (pair) => {
    const both = { ...pair, connectTimeoutMs: kubeletTimeoutMs }
    return {
      trust: { ...both, ...(ca !== undefined && { ca }), insecure: ca === undefined },
      blindTrust: { ...both, insecure: true },
    }
  })
  return {
    reader: server.reader,
    admission: server.admission,
    ...(server.feature('AuthorizePodWebsocketUpgradeCreatePermission') && {
      createAuthorizer: around.access.authorizer,
    }),
    kubelet: {
      get trust() {
        return trusts().trust
      },
      get blindTrust() {
        return trusts().blindTrust
      },
      addressTypes: settings.kubeletPreferredAddressTypes,
    },
    proxyLoopbackAllowed: settings.proxyLoopbackAllowed,
    isIdentityHeader: (name) => around.access.isIdentityHeader(name),
    stopping: around.stopping,
    random: around.random.number,
    userAgent: around.userAgent,
  }
}

export interface Aggregated {
  readonly aggregation: Aggregation
  readonly documents: RemoteDocuments
  /**
   * Starts when objects can be written: registers APIServices, then monitors the aggregated
   * servers.
   */
  start(parts: AggregatedParts): Promise<void>
  stop(): void
}

export interface AggregatedParts {
  readonly client: ApiClient
  readonly facts: Facts
  readonly catalog: Catalog
  readonly release: number
  readonly clock: Clock
  /** The server's own authority (PEM), which also signs client certificates. */
  readonly ownAuthority: string
  readonly report: (message: string, error: unknown) => void
}

export function aggregated(
  settings: Settings,
  server: Pick<Server, 'reader' | 'feature'>,
  around: RemoteSurroundings,
): Aggregated {
  const { reader } = server
  const showsUid = server.feature('RemoteRequestHeaderUID')
  const proxyClient = shownPair(settings.proxyClientCertFile, settings.proxyClientKeyFile)
  const own = new URL(localUrl(settings))
  const resolve = serviceResolver({
    reader,
    byEndpoints: settings.enableAggregatorRouting,
    ownPlace: () => ({ host: own.hostname.replace(/^\[|\]$/g, ''), port: Number(own.port || 443) }),
    random: around.random.number,
  })
  const aggregation = new Aggregation({
    reader,
    resolve,
    proxyClient,
    isIdentityHeader: (name) => around.access.isIdentityHeader(name),
    stopping: around.stopping,
    showsUid,
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
        look: (...args) => loadLook().discoveryProbe(resolve, proxyClient())(...args),
        now: () => timestamp(clock),
        report,
      })
      stops.push(() => prober.stop())
      await prober.start()
      documents.start()
      stops.push(await publishTrust(client, () => trustOf(settings, parts, showsUid), report))
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

const trustOf = (
  settings: Settings,
  { ownAuthority, clock }: AggregatedParts,
  showsUid: boolean,
) => ({
  clientAuthorities: [ownAuthority, givenAuthorities(settings.clientCaFile) ?? ''].join('\n'),
  proxy:
    settings.requestheaderClientCaFile === undefined
      ? undefined
      : {
          authorities: givenAuthorities(settings.requestheaderClientCaFile) ?? '',
          usernameHeaders: settings.requestheaderUsernameHeaders,
          uidHeaders: showsUid ? settings.requestheaderUidHeaders : undefined,
          groupHeaders: settings.requestheaderGroupHeaders,
          extraHeadersPrefix: settings.requestheaderExtraHeadersPrefix,
          allowedNames: settings.requestheaderAllowedNames,
        },
  now: () => clock.now(),
})
