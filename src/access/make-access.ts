/**
 * Authentication and authorization, made from the settings at start. A file that cannot be read or
 * parsed prevents the start. Afterwards only this server's identity for webhooks and the trusted
 * authorities are read from files again.
 */
import { readFileSync } from 'node:fs'
import type { X509Certificate } from 'node:crypto'
import type { Clock } from '#base/clock.ts'
import { type Release, releaseOf } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Credentials, AuthenticationResult } from './authenticate.ts'
import { tokenLengthMax } from './authenticate/bearer.ts'
import type { TokenKey } from './authenticate/json-web-token.ts'
import { readPublicKeys, readSigningKey, type SigningKey } from './authenticate/key-files.ts'
import { type OpenIdDocuments, openIdDocuments } from './authenticate/openid-documents.ts'
import { TokenMint } from './authenticate/service-account-token.ts'
import type { Authorizer, RuleResolver } from './authorize.ts'
import { alwaysAllow, alwaysDeny, privileged } from './authorize/always.ts'
import type {
  ConfiguredAuthorizer,
  WebhookChoice,
} from './authorize/authorization-configuration.ts'
import type { ConfiguredAuthorizers, Mode } from './authorize/configured-authorizers.ts'
import { RbacAuthorizer } from './authorize/rbac.ts'
import { namesAuthorizers, UnionAuthorizer, UnionRuleResolver } from './authorize/union.ts'
import { isImpersonationHeader } from './impersonate.ts'
import { makeAuthentication } from './make-authentication.ts'
import type { AccessSettings, AccessSurroundings, AuthorizationSettings } from './settings.ts'
import type { TokenRequestSettings } from './token-request.ts'
import type { TokenReviewer } from './token-review.ts'

/** Rare parts, loaded if the settings use them. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  abac: later<typeof import('./authorize/abac.ts')>('./authorize/abac'),
  basic: later<typeof import('./authenticate/basic.ts')>('./authenticate/basic'),
  configured: later<typeof import('./authorize/configured-authorizers.ts')>(
    './authorize/configured-authorizers',
  ),
  kubeconfig: later<typeof import('./kubeconfig.ts')>('./kubeconfig'),
  node: later<typeof import('./authorize/node.ts')>('./authorize/node'),
  review: later<typeof import('./review-webhook.ts')>('./review-webhook'),
  webhook: later<typeof import('./authorize/webhook.ts')>('./authorize/webhook'),
}

export interface Access extends TokenReviewer {
  /** Undefined or rejected means 401. Waits only for methods that make calls. */
  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult>
  readonly authorizer: Authorizer
  readonly rules: RuleResolver
  /**
   * RBAC roles and bindings. Always present, because writes of roles and bindings are checked even
   * if RBAC is not a mode.
   */
  readonly rbac: RbacAuthorizer
  /** Issues service account tokens. Undefined without a private key. */
  readonly mint: TokenMint | undefined
  readonly tokenRequests: TokenRequestSettings
  /**
   * Undefined if the issuer is not an HTTPS URL, so that other servers cannot fetch the discovery
   * document.
   */
  readonly openId: OpenIdDocuments | undefined
  /** The WWW-Authenticate header of a 401. */
  readonly challenge: string | undefined
  /** CA certificates that the TLS listener names when it requests a client certificate. */
  clientAuthorities(): readonly X509Certificate[]
  /** Reads the CA files again. Returns true if their content has changed. */
  readAuthorities(): boolean
  /** Lower-case names of headers that identify a user. The server never forwards these headers. */
  isIdentityHeader(name: string): boolean
  /** Resolves when decisions can be made from memory. */
  follow(): Promise<void>
  stop(): void
}

export async function makeAccess(
  given: AccessSettings,
  surroundings: AccessSurroundings,
  reader: ObjectReader,
  clock: Clock,
): Promise<Access> {
  const settings = withoutAnonymousAuth(given, surroundings)
  const { keys, signingKey } = tokenKeys(settings, surroundings)
  const verifying = [...keys, ...servingKeys(settings, surroundings)]
  const issuers = settings.serviceAccountIssuer
  const apiAudiences = settings.apiAudiences.length > 0 ? settings.apiAudiences : issuers
  const known = { settings, surroundings, keys: verifying, apiAudiences, reader, clock }
  const who = await makeAuthentication(known)
  const rbac = new RbacAuthorizer()
  const { modes, configured } = await authorizers(settings, surroundings, rbac, clock)
  const names = reasonNames(modes, configured, releaseOf(surroundings.release))
  const stops = [who.stop]
  if (configured !== undefined) stops.push(() => configured.stop())
  return {
    authenticate: (credentials) => who.requests.authenticate(credentials),
    async reviewToken(token, audiences) {
      if (token.length > tokenLengthMax) return undefined
      const verdict = await who.tokens.authenticateToken(token, audiences)
      if (verdict === undefined || !('user' in verdict)) return verdict
      return { ...verdict, user: who.requests.member(verdict.user) }
    },
    apiAudiences,
    authorizer: new UnionAuthorizer([privileged, ...modes], names),
    rules: new UnionRuleResolver(modes),
    rbac,
    mint: signingKey && new TokenMint(issuers[0] ?? '', signingKey),
    tokenRequests: {
      apiAudiences,
      expirationSecondsMax: Math.floor(settings.serviceAccountMaxTokenExpirationMs / 1000),
      extendExpiration: settings.serviceAccountExtendTokenExpiration,
    },
    openId: documents(settings, surroundings, keys),
    challenge: settings.basicAuthFile === undefined ? undefined : load.basic().basicChallenge,
    clientAuthorities: who.clientAuthorities,
    readAuthorities: who.readAuthorities,
    isIdentityHeader: (name) =>
      name === 'authorization' ||
      isImpersonationHeader(name) ||
      (who.requestHeader?.isIdentityHeader(name) ?? false),
    async follow() {
      stops.push(await rbac.follow(reader))
      for (const mode of configured?.modes ?? modes)
        if (mode !== rbac && mode.follow !== undefined) stops.push(await mode.follow(reader))
    },
    stop() {
      for (const stop of stops) stop()
    },
  }
}

/** If every request is allowed, it must at least be authenticated. */
function withoutAnonymousAuth(
  settings: AccessSettings,
  { report }: AccessSurroundings,
): AccessSettings {
  if (!settings.anonymousAuth || !settings.authorizationMode.includes('AlwaysAllow'))
    return settings
  report('anonymous requests are not allowed together with the AlwaysAllow authorizer')
  return { ...settings, anonymousAuth: false }
}

/** A configured chain names its own authorizers. */
function reasonNames(
  modes: readonly Mode[],
  configured: ConfiguredAuthorizers | undefined,
  release: Release,
): readonly string[] | undefined {
  if (configured !== undefined || !release.has(namesAuthorizers)) return undefined
  return [privileged, ...modes].map(({ name }) => name.toLowerCase())
}

async function authorizers(
  settings: AuthorizationSettings,
  surroundings: AccessSurroundings,
  rbac: RbacAuthorizer,
  clock: Clock,
): Promise<{ modes: Mode[]; configured?: ConfiguredAuthorizers }> {
  const { authorizationConfig: file, authorizationMode } = settings
  if (file !== undefined) {
    const configured = await configuredAuthorizers(file, settings, surroundings, rbac, clock)
    return { modes: [configured], configured }
  }
  if (authorizationMode.length === 0)
    throw new Error('at least one authorization mode must be passed')
  const make = (mode: string) => makeMode(mode, settings, surroundings, rbac, clock)
  return { modes: await Promise.all(authorizationMode.map(make)) }
}

async function configuredAuthorizers(
  file: string,
  settings: AuthorizationSettings,
  surroundings: AccessSurroundings,
  rbac: RbacAuthorizer,
  clock: Clock,
): Promise<ConfiguredAuthorizers> {
  const release = releaseOf(surroundings.release)
  /**
   * RBAC, Node and ABAC authorizers are created once and reused when the configuration file
   * changes.
   */
  const kept = new Map<string, Mode>()
  const make = async (choice: ConfiguredAuthorizer, isStart: boolean): Promise<Mode> => {
    if (choice.type === 'Webhook') return configuredWebhook(choice, surroundings, clock)
    const known = kept.get(choice.type)
    if (known !== undefined) return known
    if (!isStart && ['Node', 'RBAC', 'ABAC'].includes(choice.type))
      throw new Error(
        `authorizer type ${choice.type} is not allowed if it was not enabled at initial server startup`,
      )
    const mode = await makeMode(choice.type, settings, surroundings, rbac, clock)
    kept.set(choice.type, mode)
    return mode
  }
  const { report } = surroundings
  const reloaded = surroundings.reloaded?.('authorization')
  return load.configured().ConfiguredAuthorizers.open({ file, release, make, report, reloaded })
}

async function configuredWebhook(
  { name, webhook: choice }: { name: string; webhook: WebhookChoice },
  { conditionMeter }: AccessSurroundings,
  clock: Clock,
): Promise<Mode> {
  const { ReviewWebhook, defaultBackoff } = load.review()
  const endpoint = await load.kubeconfig().readKubeconfig(choice.kubeconfig)
  const webhook = new ReviewWebhook(endpoint, defaultBackoff, choice.timeoutMs)
  const meter = choice.conditions.length > 0 ? conditionMeter?.() : undefined
  const settings = meter === undefined ? choice : { ...choice, measured: { name, meter } }
  return new (load.webhook().WebhookAuthorizer)(webhook, settings, clock)
}

async function makeMode(
  mode: string,
  settings: AuthorizationSettings,
  { release, feature }: AccessSurroundings,
  rbac: RbacAuthorizer,
  clock: Clock,
): Promise<Mode> {
  const { authorizationPolicyFile: policy, authorizationWebhookConfigFile: config } = settings
  switch (mode) {
    case 'AlwaysAllow':
      return alwaysAllow
    case 'AlwaysDeny':
      return alwaysDeny
    case 'RBAC':
      return rbac
    case 'Node':
      return new (load.node().NodeAuthorizer)(release, feature)
    case 'ABAC':
      if (policy === undefined) throw new Error('ABAC needs --authorization-policy-file')
      return new (load.abac().AbacAuthorizer)(readFileSync(policy, 'utf8'), policy)
    case 'Webhook':
      if (config === undefined) throw new Error('Webhook needs --authorization-webhook-config-file')
      return new (load.webhook().WebhookAuthorizer)(
        new (load.review().ReviewWebhook)(await load.kubeconfig().readKubeconfig(config)),
        {
          version: settings.authorizationWebhookVersion,
          authorizedTtlMs: settings.authorizationWebhookCacheAuthorizedTtlMs,
          unauthorizedTtlMs: settings.authorizationWebhookCacheUnauthorizedTtlMs,
        },
        clock,
      )
    default:
      throw new Error(`unknown authorization mode ${mode} specified`)
  }
}

/**
 * Public keys that verify service account tokens: the configured keys or, by default, the server's
 * own. The public half of the signing key is always included.
 */
function tokenKeys(
  { serviceAccountKeyFile: files, serviceAccountSigningKeyFile: signing }: AccessSettings,
  { ownTokenKeys }: AccessSurroundings,
): { keys: TokenKey[]; signingKey: SigningKey | undefined } {
  const texts = files.map((file) => ({ file, pem: readFileSync(file, 'utf8') }))
  if (texts.length === 0 && signing === undefined)
    texts.push(...ownTokenKeys.map((pem) => ({ file: 'our own key', pem })))
  const keys = texts.flatMap(({ file, pem }) => readPublicKeys(pem, file))
  if (signing !== undefined) texts.unshift({ file: signing, pem: readFileSync(signing, 'utf8') })
  const source = texts.find(({ file, pem }) => file === signing || pem.includes('PRIVATE KEY-----'))
  const signingKey = source && readSigningKey(source.pem, source.file)
  if (signingKey !== undefined && !keys.some(({ id }) => id === signingKey.id)) {
    const { publicKey, id, algorithm } = signingKey
    keys.push({ publicKey, id, algorithm })
  }
  return { keys, signingKey }
}

/**
 * The key of the serving certificate. It verifies tokens if no key is specified. The server does
 * not sign tokens with it, so it is not in the key set. A key type that cannot sign tokens is
 * ignored.
 */
function servingKeys(
  { serviceAccountKeyFile: files }: AccessSettings,
  { servingKey }: AccessSurroundings,
): TokenKey[] {
  if (files.length > 0 || servingKey === undefined) return []
  try {
    return readPublicKeys(servingKey, 'the serving key')
  } catch {
    return []
  }
}

function documents(
  { serviceAccountIssuer, serviceAccountJwksUri }: AccessSettings,
  { externalAddress, report }: AccessSurroundings,
  keys: readonly TokenKey[],
): OpenIdDocuments | undefined {
  if (keys.length === 0) return undefined
  const made = openIdDocuments({
    issuer: serviceAccountIssuer[0] ?? '',
    keySetUri: serviceAccountJwksUri ?? '',
    externalAddress,
    keys,
  })
  if (!('problem' in made)) return made
  report(`the service account issuer's discovery document is not served: ${made.problem}`)
  return undefined
}
