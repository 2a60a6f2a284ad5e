/**
 * Creates the HTTP handling of the server: the handlers of non-resource paths, the steps of each
 * request, and the listener.
 */
import { servesCbor } from '#codec/media-type.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { ConstrainedImpersonation } from '#access/constrained-impersonation.ts'
import type { Access } from '#access/make-access.ts'
import type { Loopback } from '#admission/webhook/address.ts'
import { systemRandom } from '#base/random.ts'
import { loadLater } from '#base/load-later.ts'
import { aggregatedVersions } from '#discovery/aggregated.ts'
import { type PriorityOf, priorities } from '#discovery/group-order.ts'
import type { JsonObject } from '#discovery/openapi/source.ts'
import type { Aggregation } from '#http/aggregation/aggregation.ts'
import type { OpenApiDocuments } from '#http/aggregation/remote-documents.ts'
import { mayUpgrade } from '#http/connect/connect.ts'
import type { Wire } from '#http/exchange.ts'
import { createListener, type Listener } from '#http/connections/listener.ts'
import type { TlsKeys } from '#http/connections/named-certificates.ts'
import type { HttpParts, PathHandler } from '#http/parts.ts'
import type { AggregatedDiscovery } from '#http/paths/aggregated-discovery.ts'
import { type DiscoveryParts, discoveryPaths } from '#http/paths/discovery.ts'
import { healthPaths } from '#http/paths/health.ts'
import { type KnownPaths, knownPaths, servedPaths } from '#http/paths/known-paths.ts'
import { checkMetricsPath, checkMetricsUrl, measuresChecks } from '#http/paths/metrics.ts'
import { openApiPaths } from '#http/paths/openapi.ts'
import { openIdPaths } from '#http/paths/openid.ts'
import { keySetPath, openIdConfigurationPath } from '#access/authenticate/openid-documents.ts'
import { versionPath } from '#http/paths/version.ts'
import type { Zpage } from '#http/paths/zpages.ts'
import { ownHeaders, requestServer } from '#http/serve.ts'
import type { CheckMetrics } from '#observe/metrics/check-metrics.ts'
import type { Log } from '#observe/log.ts'
import type { Server } from '#verbs/server.ts'
import { externalAddress } from './addresses.ts'
import type { Certificates } from './certificates.ts'
import { publishedSchemaOf } from './custom-kinds.ts'
import type { Foundation } from './foundation.ts'
import type { ServerHealth } from './health-checks.ts'
import type { Observing } from './observing.ts'
import { type Aggregated, connectParts, type RemoteSurroundings } from './remote-servers.ts'
import type { TlsPolicy } from '#settings/tls-policy.ts'

/** Maximum size of a request body, as in kube-apiserver. */
const bodyBytesMax = 3 * 1024 * 1024

export interface RequestHandling {
  readonly foundation: Foundation
  readonly server: Server
  readonly access: Access
  readonly observing: Observing
  readonly health: ServerHealth
  readonly others: Aggregated
  readonly around: RemoteSurroundings
}

const loadUntilReady = loadLater<typeof import('#http/until-ready.ts')>(
  import.meta.url,
  '#http/until-ready',
)

const loadPolicy = loadLater<typeof import('#settings/tls-policy.ts')>(
  import.meta.url,
  '#settings/tls-policy',
)

const loadAround = loadLater<typeof import('#http/around-requests.ts')>(
  import.meta.url,
  '#http/around-requests',
)

/**
 * During a start with a grace period, health checks can observe the progress. Without one, no
 * request is answered before the server is ready.
 */
export const listensEarly = ({ livezGracePeriodMs }: Foundation['settings']): boolean =>
  livezGracePeriodMs > 0

/** The function that handles each request, according to the flags. */
export function serverOf(handling: RequestHandling): (wire: Wire) => void {
  const { foundation, health } = handling
  const parts = httpParts(handling)
  const whenReady = requestServer(parts)
  return asFlagsSay(
    foundation,
    parts,
    listensEarly(foundation.settings)
      ? loadUntilReady().untilReady(whenReady, () => health.ready)
      : whenReady,
  )
}

export function makeListener(handling: RequestHandling, serve: (wire: Wire) => void): Listener {
  const { foundation, access, others, observing } = handling
  const { settings } = foundation
  return createListener({
    ...listenerKeys(foundation.certificates, foundation.loopback),
    ...tlsPolicyOf(foundation),
    clientAuthorities: authoritiesOf(access),
    handle: serve,
    upgrade: serve,
    upgradesAt: (url) => mayUpgrade(url) || others.aggregation.hasAddress(url),
    handshakeFailed: observing.handshakeFailed,
    ...(settings.http2MaxStreamsPerConnection > 0 && {
      http2StreamsMax: settings.http2MaxStreamsPerConnection,
    }),
  })
}

const authoritiesOf = (access: Access): Buffer =>
  Buffer.from(access.clientAuthorities().map(String).join(''))

/** How often files of authorities are read, as in kube-apiserver. */
const authoritiesReadMs = 60_000

/** Re-reads the files of authorities regularly; returns a function that stops this. */
export function followAuthorities(access: Access, listener: Listener): () => void {
  const timer = setInterval(() => {
    if (access.readAuthorities()) listener.trust(authoritiesOf(access))
  }, authoritiesReadMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Without the flags, requests get no extra layer. */
function asFlagsSay(
  { settings, random }: Foundation,
  parts: HttpParts,
  serve: (wire: Wire) => void,
): (wire: Wire) => void {
  const {
    corsAllowedOrigins: origins,
    strictTransportSecurityDirectives: directives,
    goawayChance: goAwayChance,
  } = settings
  if (origins.length + directives.length === 0 && goAwayChance === 0) return serve
  return loadAround().aroundRequests(serve, {
    origins,
    directives,
    goAwayChance,
    random: random.number,
    ownHeaders: (wire) => ownHeaders(wire, parts),
  })
}

/** Empty without TLS flags. */
function tlsPolicyOf({ settings, log }: Foundation): Pick<TlsPolicy, 'ciphers' | 'minVersion'> {
  const { tlsCipherSuites, tlsMinVersion } = settings
  if (tlsCipherSuites.length === 0 && tlsMinVersion === 'VersionTLS12') return {}
  const { warnings, ...policy } = loadPolicy().tlsPolicy(settings)
  for (const warning of warnings) log.warn(warning)
  return policy
}

/** The certificates and keys that the listener presents. */
export const listenerKeys = (
  { serving, named }: Certificates,
  { cert: ownCert, key: ownKey, serverName }: Loopback,
): TlsKeys => ({
  cert: serving.certificatePem,
  key: serving.keyPem,
  named: [
    ...named.map(({ certificatePem, keyPem, names }) => ({
      cert: certificatePem,
      key: keyPem,
      names,
    })),
    { cert: ownCert, key: ownKey, names: [serverName] },
  ],
})

function httpParts(handling: RequestHandling): HttpParts {
  const { foundation, server, access, observing, others, around } = handling
  const { settings, report, clock } = foundation
  return {
    server,
    connect: connectParts(settings, server, around),
    aggregation: others.aggregation,
    authenticate: access.authenticate,
    challenge: access.challenge,
    authorizer: access.authorizer,
    constrainedImpersonation: impersonationOf(foundation, access, observing),
    authorizesSelectors: foundation.feature('AuthorizeWithSelectors'),
    paths: pathsOf(handling),
    limits: {
      requestTimeoutMs: settings.requestTimeoutMs,
      minRequestTimeoutSeconds: settings.minRequestTimeoutSeconds,
      bodyBytesMax,
    },
    observers: observing.observers,
    instruments: observing.instruments,
    report,
    monotonicMs: () => clock.elapsed(),
    // A separate random source: with a seed, the number of requests must not influence the uids of
    // objects.
    newAuditId: systemRandom.uuid,
    stopping: around.stopping,
  }
}

const loadImpersonation = loadLater<typeof import('#access/constrained-impersonation.ts')>(
  import.meta.url,
  '#access/constrained-impersonation',
)

/** Loaded with the first impersonation. */
function impersonationOf(
  { feature }: Foundation,
  { authorizer }: Access,
  { impersonations }: Observing,
) {
  if (!feature('ConstrainedImpersonation')) return undefined
  let made: ConstrainedImpersonation | undefined
  const make = () =>
    new (loadImpersonation().ConstrainedImpersonation)(authorizer, impersonations())
  return () => (made ??= make())
}

const publishesIssuer = change('the API server publishes the keys of its service account tokens', {
  since: 20,
})

function pathsOf({
  foundation,
  access,
  observing,
  health,
  others,
}: RequestHandling): PathHandler[] {
  const { settings, facts, release, catalog, log } = foundation
  const { aggregation, documents } = others
  const openId = releaseOf(release).has(publishesIssuer) ? access.openId : undefined
  const priorityOf = priorities(facts, release, (group, version) =>
    aggregation.priorityOf(group, version),
  )
  const zpages = (['statusz', 'flagz'] as const).filter((page) => foundation.feature(zgates[page]))
  const measures = releaseOf(release).has(measuresChecks)
  const checks = checkMetrics(release)
  const known = {
    release,
    catalog,
    checks: health,
    others: [
      '/metrics',
      ...(measures ? [checkMetricsUrl] : []),
      '/openapi/v2',
      ...(foundation.feature('OpenAPIV3') ? ['/openapi/v3', '/openapi/v3/'] : []),
      '/version',
      ...zpages.map((page) => `/${page}`),
      ...(openId === undefined ? [] : [openIdConfigurationPath, keySetPath]),
    ],
  }
  return [
    healthPaths(health, release, (problem) => log.warn(problem), measures ? checks : undefined),
    versionPath(observing.build),
    discoveryPaths({
      catalog,
      release,
      priorityOf,
      serverAddress: externalAddress(settings),
      typeOf: (kind) => facts.typeOf(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`, release),
      aggregated: aggregation,
      whole: wholeDiscovery(foundation, aggregation, priorityOf),
    }),
    openApiPaths(documents.over(openApiOf(foundation, priorityOf)), releaseOf(release)),
    ...(openId === undefined ? [] : [openIdPaths(openId)]),
    ...observing.paths,
    checkMetricsPath(checks, settings.profiling, release),
    ...(settings.profiling ? [debugPaths(log)] : []),
    ...(zpages.length === 0 ? [] : [zpagesOf(foundation, observing, zpages, known)]),
    knownPaths(known),
  ]
}

const loadCheckMetrics = loadLater<typeof import('#observe/metrics/check-metrics.ts')>(
  import.meta.url,
  '#observe/metrics/check-metrics',
)

/** Loaded with the first health check. */
function checkMetrics(release: number): () => CheckMetrics {
  let made: CheckMetrics | undefined
  return () => (made ??= new (loadCheckMetrics().CheckMetrics)(release))
}

const zgates: Readonly<Record<Zpage, string>> = {
  statusz: 'ComponentStatusz',
  flagz: 'ComponentFlagz',
}

/** Loaded with the first request. */
function zpagesOf(
  { settings, release, clock, random }: Foundation,
  { build }: RequestHandling['observing'],
  served: readonly Zpage[],
  known: KnownPaths,
): PathHandler {
  const load = loadLater<typeof import('#http/paths/zpages.ts')>(
    import.meta.url,
    '#http/paths/zpages',
  )
  const startedAtMs = clock.now()
  let made: PathHandler | undefined
  return {
    matches: (path) => served.some((page) => path === `/${page}`),
    handle(exchange) {
      made ??= load().zpagesPaths({
        release,
        served,
        goVersion: build.goVersion,
        binaryVersion: build.gitVersion.slice(1),
        startedAtMs,
        nowMs: () => clock.now(),
        random: () => random.number(),
        paths: () => servedPaths(known),
        flags: () => loadFlagValues().shownFlags(settings, release),
      })
      return made.handle(exchange)
    },
  }
}

const loadFlagValues = loadLater<typeof import('#settings/shown-flags.ts')>(
  import.meta.url,
  '#settings/shown-flags',
)

const loadAggregated = loadLater<typeof import('#http/paths/aggregated-discovery.ts')>(
  import.meta.url,
  '#http/paths/aggregated-discovery',
)
const loadRemoteDiscovery = loadLater<typeof import('#http/aggregation/remote-discovery.ts')>(
  import.meta.url,
  '#http/aggregation/remote-discovery',
)

/** Aggregated discovery is loaded and generated with the first request for it. */
function wholeDiscovery(
  { facts, release, feature, catalog, clock }: Foundation,
  aggregation: Aggregation,
  priorityOf: PriorityOf,
): DiscoveryParts['whole'] {
  let made: AggregatedDiscovery | undefined
  const load = () => {
    made ??= new (loadAggregated().AggregatedDiscovery)({
      catalog,
      release,
      priorityOf,
      listTypeOf: (version) =>
        facts.typeOf(`io.k8s.api.apidiscovery.${version}.APIGroupDiscoveryList`, release),
      groupVersions: (local) => aggregation.groupVersions(local),
      remotes: new (loadRemoteDiscovery().RemoteDiscovery)(aggregation, () => clock.elapsed()),
    })
    return made
  }
  return { versions: aggregatedVersions(release, feature), load }
}

/** Loaded with the first request. */
function debugPaths(log: Log): PathHandler {
  const flags = loadLater<typeof import('#http/paths/debug-flags.ts')>(
    import.meta.url,
    '#http/paths/debug-flags',
  )
  const profiles = loadLater<typeof import('#http/paths/debug-profiles.ts')>(
    import.meta.url,
    '#http/paths/debug-profiles',
  )
  let handlers: PathHandler[] | undefined
  const handlerOf = (path: string) => {
    handlers ??= [flags().debugFlagsPaths(log), profiles().debugProfilesPaths()]
    return handlers.find((handler) => handler.matches(path))
  }
  return {
    matches: (path) => /^\/debug\/(flags|pprof)(\/|$)/.test(path),
    handle: (exchange) => handlerOf(exchange.target.path)?.handle(exchange),
  }
}

/** The first request loads the generator and generates the documents. */
function openApiOf(
  { facts, release, feature, catalog }: Foundation,
  priorityOf: PriorityOf,
): OpenApiDocuments {
  const load = loadLater<typeof import('#discovery/openapi/publisher.ts')>(
    import.meta.url,
    '#discovery/openapi/publisher',
  )
  let made: OpenApiDocuments | undefined
  const publisher = (): OpenApiDocuments => {
    made ??= new (load().OpenApiPublisher)({
      facts,
      release,
      priorityOf,
      applies: feature('ServerSideApply'),
      servesCbor: feature(servesCbor),
      enums: feature('OpenAPIEnums'),
      schemaOf: (kind) => publishedSchemaOf(kind) as JsonObject | undefined,
      catalog,
    })
    return made
  }
  return {
    v2: () => publisher().v2(),
    v2Protobuf: () => publisher().v2Protobuf(),
    v3Index: () => publisher().v3Index(),
    v3: (name) => publisher().v3(name),
  }
}
