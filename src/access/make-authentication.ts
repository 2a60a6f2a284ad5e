/** The configured methods of authentication, in kube-apiserver's order: local before remote. */
import { readFileSync } from 'node:fs'
import type { X509Certificate } from 'node:crypto'
import { releaseOf } from '#api/releases/change.ts'
import type { Clock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Authenticator, TokenAuthenticator } from './authenticate.ts'
import type { AuthorityFile } from './authenticate/authority-file.ts'
import { BearerAuthenticator, WebSocketAuthenticator } from './authenticate/bearer.ts'
import { Authorities, readBundle } from './authenticate/certificate-chain.ts'
import { ClientCertificateAuthenticator } from './authenticate/client-certificate.ts'
import type { ConfiguredIssuers } from './authenticate/configured-issuers.ts'
import type { TokenKey } from './authenticate/json-web-token.ts'
import type { OidcAuthenticator } from './authenticate/oidc.ts'
import type { RequestHeaderAuthenticator } from './authenticate/request-header.ts'
import { ServiceAccountAuthenticator } from './authenticate/service-account.ts'
import { AudienceAgnostic, RequestAuthenticator, TokenUnion } from './authenticate/union.ts'
import type { AccessSurroundings, AuthenticationSettings } from './settings.ts'

/** Rare methods, loaded if the settings use them. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  authorityFile: later<typeof import('./authenticate/authority-file.ts')>(
    './authenticate/authority-file',
  ),
  basic: later<typeof import('./authenticate/basic.ts')>('./authenticate/basic'),
  bootstrapToken: later<typeof import('./authenticate/bootstrap-token.ts')>(
    './authenticate/bootstrap-token',
  ),
  issuers: later<typeof import('./authenticate/configured-issuers.ts')>(
    './authenticate/configured-issuers',
  ),
  call: later<typeof import('./https-call.ts')>('./https-call'),
  kubeconfig: later<typeof import('./kubeconfig.ts')>('./kubeconfig'),
  oidc: later<typeof import('./authenticate/oidc.ts')>('./authenticate/oidc'),
  requestHeader: later<typeof import('./authenticate/request-header.ts')>(
    './authenticate/request-header',
  ),
  review: later<typeof import('./review-webhook.ts')>('./review-webhook'),
  staticToken: later<typeof import('./authenticate/static-token.ts')>(
    './authenticate/static-token',
  ),
  tokenCache: later<typeof import('./authenticate/token-cache.ts')>('./authenticate/token-cache'),
  webhook: later<typeof import('./authenticate/webhook.ts')>('./authenticate/webhook'),
}

/** How long a verified token of an OpenID provider is cached. */
const oidcSuccessTtlMs = 10_000

export interface Authentication {
  readonly requests: RequestAuthenticator
  readonly tokens: TokenUnion
  readonly requestHeader: RequestHeaderAuthenticator | undefined
  /** All CA certificates that may sign client certificates. */
  readonly clientAuthorities: () => readonly X509Certificate[]
  /** Reads the CA files again. Returns whether they have changed. */
  readonly readAuthorities: () => boolean
  readonly stop: () => void
}

export interface AuthenticationParts {
  readonly settings: AuthenticationSettings
  readonly surroundings: AccessSurroundings
  /** Verifies the tokens of service accounts. */
  readonly keys: readonly TokenKey[]
  readonly apiAudiences: readonly string[]
  readonly reader: ObjectReader
  readonly clock: Clock
}

export async function makeAuthentication(parts: AuthenticationParts): Promise<Authentication> {
  const { settings, surroundings, apiAudiences, clock } = parts
  const methods: Authenticator[] = []
  const requestHeader = makeRequestHeader(settings, surroundings, clock)
  if (requestHeader !== undefined) methods.push(requestHeader.method)
  if (settings.basicAuthFile !== undefined) {
    const { BasicAuthenticator, hasBasicAuth } = load.basic()
    if (!releaseOf(surroundings.release).has(hasBasicAuth))
      throw new Error(`--basic-auth-file is not known to release 1.${surroundings.release}`)
    methods.push(new BasicAuthenticator(read(settings.basicAuthFile), settings.basicAuthFile))
  }
  const clients = makeClientCertificate(settings, surroundings, clock)
  if (clients !== undefined) methods.push(clients.method)
  const stops: (() => void)[] = []
  const issuers = makeIssuers(parts)
  if (issuers !== undefined) stops.push(() => issuers.stop())
  const tokens = new TokenUnion(await tokenMethods(parts, issuers, stops))
  methods.push(new BearerAuthenticator(tokens, apiAudiences))
  methods.push(new WebSocketAuthenticator(tokens, apiAudiences))
  return {
    requests: new RequestAuthenticator(methods, (path) => {
      const rule = issuers?.anonymous
      if (rule === undefined) return settings.anonymousAuth
      return rule.enabled && (rule.paths?.has(path) ?? true)
    }),
    tokens,
    requestHeader: requestHeader?.method,
    clientAuthorities: () => [
      ...(clients?.authorities() ?? []),
      ...(requestHeader?.authorities() ?? []),
    ],
    readAuthorities: () =>
      // Read both files, regardless of the first result.
      [requestHeader, clients].map((one) => readAgain(one, surroundings)).includes(true),
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}

/** Methods with background work add their stop functions to `stops`. */
async function tokenMethods(
  { settings, surroundings, keys, apiAudiences, reader, clock }: AuthenticationParts,
  issuers: ConfiguredIssuers | undefined,
  stops: (() => void)[],
): Promise<TokenAuthenticator[]> {
  const methods: TokenAuthenticator[] = []
  const agnostic = (method: TokenAuthenticator) => new AudienceAgnostic(method, apiAudiences)
  const { tokenAuthFile, authenticationTokenWebhookConfigFile: webhookFile } = settings
  if (tokenAuthFile !== undefined) {
    const { StaticTokenAuthenticator } = load.staticToken()
    const method = new StaticTokenAuthenticator(read(tokenAuthFile), tokenAuthFile)
    for (const warning of method.warnings) surroundings.report(warning)
    methods.push(agnostic(method))
  }
  if (keys.length > 0) {
    const { serviceAccountIssuer: issuers, serviceAccountLookup: lookup } = settings
    const { release, feature, tokenUses: uses, report } = surroundings
    const account = {
      keys,
      issuers,
      apiAudiences,
      lookup,
      release: releaseOf(release),
      feature,
      uses,
      report,
    }
    const method = new ServiceAccountAuthenticator(account, reader, clock)
    stops.push(() => method.stop())
    methods.push(method)
  }
  if (settings.enableBootstrapTokenAuth)
    methods.push(agnostic(new (load.bootstrapToken().BootstrapTokenAuthenticator)(reader, clock)))
  // After service accounts: their tokens are web tokens too and must not cause requests to a
  // provider.
  const oidc = makeOidc(settings, surroundings, clock)
  if (oidc !== undefined) {
    stops.push(() => oidc.stop())
    const { TokenCache } = load.tokenCache()
    const cache = { successTtlMs: oidcSuccessTtlMs, failureTtlMs: 0 }
    methods.push(agnostic(new TokenCache(oidc, cache, clock)))
  }
  if (issuers !== undefined) methods.push(agnostic(issuers))
  if (webhookFile !== undefined) {
    const { TokenCache } = load.tokenCache()
    const { WebhookTokenAuthenticator } = load.webhook()
    const { ReviewWebhook } = load.review()
    const webhook = new ReviewWebhook(await load.kubeconfig().readKubeconfig(webhookFile))
    const version = settings.authenticationTokenWebhookVersion
    const method = new WebhookTokenAuthenticator(webhook, version, apiAudiences)
    const ttl = settings.authenticationTokenWebhookCacheTtlMs
    methods.push(new TokenCache(method, { successTtlMs: ttl, failureTtlMs: ttl }, clock))
  }
  return methods
}

function makeIssuers({
  settings: { authenticationConfig: file, serviceAccountIssuer: ownIssuers, givenFlags },
  surroundings: { release, feature, report, reloaded },
  clock,
}: AuthenticationParts): ConfiguredIssuers | undefined {
  if (file === undefined) return undefined
  return new (load.issuers().ConfiguredIssuers)({
    file,
    release: releaseOf(release),
    feature,
    anonymousGiven: givenFlags.has('anonymous-auth'),
    ownIssuers,
    clock,
    caller: ({ certificateAuthority: ca }) => load.call().caller(ca === '' ? {} : { ca }),
    report,
    reloaded: reloaded?.('authentication'),
  })
}

function makeOidc(
  settings: AuthenticationSettings,
  { report, release }: AccessSurroundings,
  clock: Clock,
): OidcAuthenticator | undefined {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId, oidcCaFile } = settings
  if (issuerUrl === undefined || clientId === undefined) return undefined
  const { fromFlags, OidcAuthenticator } = load.oidc()
  const options = fromFlags(
    {
      issuerUrl,
      clientId,
      usernameClaim: settings.oidcUsernameClaim,
      usernamePrefix: settings.oidcUsernamePrefix ?? '',
      groupsClaim: settings.oidcGroupsClaim ?? '',
      groupsPrefix: settings.oidcGroupsPrefix ?? '',
      requiredClaims: Object.fromEntries(settings.oidcRequiredClaim),
      signingAlgorithms: settings.oidcSigningAlgs,
    },
    releaseOf(release),
  )
  return new OidcAuthenticator(
    options,
    load.call().caller(oidcCaFile === undefined ? {} : { ca: authoritiesIn(oidcCaFile) }),
    clock,
    report,
  )
}

const uidGate = 'RemoteRequestHeaderUID'

function requireUidHeaders(
  { requestheaderUidHeaders: headers }: AuthenticationSettings,
  { feature }: AccessSurroundings,
): void {
  if (headers.length === 0) return
  if (!feature(uidGate))
    throw new Error(`--requestheader-uid-headers requires the "${uidGate}" feature to be enabled`)
  if (!headers.some((header) => header.toLowerCase() === 'x-remote-uid'))
    throw new Error(
      '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work',
    )
}

function makeRequestHeader(
  settings: AuthenticationSettings,
  surroundings: AccessSurroundings,
  clock: Clock,
): Certified<RequestHeaderAuthenticator> | undefined {
  requireUidHeaders(settings, surroundings)
  const { requestheaderClientCaFile: file } = settings
  if (file === undefined) return undefined
  const bundle = new (load.authorityFile().AuthorityFile)(file)
  const method = new (load.requestHeader().RequestHeaderAuthenticator)(
    new Authorities(bundle.certificates),
    {
      allowedNames: settings.requestheaderAllowedNames,
      usernameHeaders: settings.requestheaderUsernameHeaders,
      uidHeaders: settings.requestheaderUidHeaders,
      groupHeaders: settings.requestheaderGroupHeaders,
      extraHeaderPrefixes: settings.requestheaderExtraHeadersPrefix,
    },
    clock,
  )
  return { method, file: bundle, authorities: () => bundle.certificates }
}

function makeClientCertificate(
  { clientCaFile }: AuthenticationSettings,
  { ownClientAuthorities, release, feature }: AccessSurroundings,
  clock: Clock,
): Certified<ClientCertificateAuthenticator> | undefined {
  const file =
    clientCaFile === undefined ? undefined : new (load.authorityFile().AuthorityFile)(clientCaFile)
  const own = ownClientAuthorities.flatMap((pem) => readBundle(pem, 'our own authority'))
  const authorities = () => [...(file?.certificates ?? []), ...own]
  if (authorities().length === 0) return undefined
  const method = new ClientCertificateAuthenticator(new Authorities(authorities()), clock, {
    release: releaseOf(release),
    feature,
  })
  return { method, file, authorities }
}

/** A method that trusts the certificates of certain authorities. */
interface Certified<Method> {
  readonly method: Method
  /** The file that contains these authorities. */
  readonly file: AuthorityFile | undefined
  readonly authorities: () => readonly X509Certificate[]
}

function readAgain(
  certified: Certified<ClientCertificateAuthenticator | RequestHeaderAuthenticator> | undefined,
  { report }: AccessSurroundings,
): boolean {
  try {
    if (certified?.file?.readAgain() !== true) return false
  } catch (error) {
    report(`authorities stay as they were: ${(error as Error).message}`)
    return false
  }
  certified.method.trust(new Authorities(certified.authorities()))
  return true
}

/** Returns the text of a bundle. Throws if it is invalid. */
function authoritiesIn(file: string): string {
  const pem = read(file)
  readBundle(pem, file)
  return pem
}

const read = (file: string): string => readFileSync(file, 'utf8')
