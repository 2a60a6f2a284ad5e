/**
 * Authenticates service account tokens. The signature of a token is verified once. Then the token
 * is cached by its digest, until it expires or an object that it depends on changes. Tokens of
 * other issuers are ignored.
 */
import type { Clock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import type { Release } from '#api/releases/change.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import { showStrings } from '#access/error-list.ts'
import { serviceAccountGroups, serviceAccountUserName } from '#access/service-account-name.ts'
import type { User } from '#access/user.ts'
import {
  AccountLookup,
  leewayMs,
  timeWords,
  type TokenRelease,
  type TokenSecret,
} from './account-lookup.ts'
import { claimedIssuer, isSignedBy, parseToken, type TokenKey } from './json-web-token.ts'
import {
  type AccountClaims,
  boundAccountClaims,
  ClaimsError,
  legacyAccountClaims,
} from './service-account-claims.ts'
import { legacyIssuer } from './service-account-token.ts'
import { tokenDigest } from './token-digest.ts'
import type { TokenUses } from './token-uses.ts'

/** Loaded with the first token. */
const loadUses = loadLater<typeof import('./token-uses.ts')>(import.meta.url, './token-uses')

export interface ServiceAccountSettings extends TokenRelease {
  readonly keys: readonly TokenKey[]
  /** All issuers are accepted; new tokens have the first. */
  readonly issuers: readonly string[]
  /** The audiences of tokens without an `aud` claim. */
  readonly apiAudiences: readonly string[]
  /**
   * Whether legacy tokens become invalid when their Secret or service account is deleted. Bound
   * tokens always do.
   */
  readonly lookup: boolean
  /** Absent if uses of tokens are not recorded. */
  readonly uses?: TokenUses | undefined
  readonly report?: (message: string) => void
}

/** Number of cached tokens. Each uses about a kilobyte. */
const rememberedMax = 10_000
/** How often a lookup is repeated if the objects changed meanwhile. */
const lookupAttemptsMax = 3
/** Uses within this time count once, because kube-apiserver caches its result as long. */
const countedOnceMs = 10_000

/** A token with a verified signature. */
class Known {
  readonly claims: AccountClaims
  readonly user: User
  /** The token needs no lookup until this time in milliseconds; 0 if it must be looked up. */
  goodUntil = 0
  changes = 0
  /** The Secret of a legacy token, if its use is tracked. */
  secret: TokenSecret | undefined
  isBeingLabelled = false
  countedUntil = 0

  constructor(claims: AccountClaims, feature: (gate: string) => boolean) {
    this.claims = claims
    const { namespace, account } = claims
    this.user = {
      name: serviceAccountUserName(namespace, account.name),
      uid: account.uid,
      groups: serviceAccountGroups(namespace),
      extra: extraOf(claims, feature),
    }
  }

  changed(): void {
    this.changes++
    this.goodUntil = 0
  }
}

/** The claims that authorizers and webhooks receive as extra values. */
function extraOf({ pod, node, id }: AccountClaims, feature: (gate: string) => boolean) {
  const prefix = 'authentication.kubernetes.io'
  const isOfPod = pod !== undefined && pod.name !== '' && pod.uid !== ''
  const showsNode =
    node !== undefined &&
    node.name !== '' &&
    (pod === undefined || feature('ServiceAccountTokenPodNodeInfo'))
  return {
    ...(isOfPod && { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] }),
    ...(id !== '' &&
      feature('ServiceAccountTokenJTI') && { [`${prefix}/credential-id`]: [`JTI=${id}`] }),
    ...(showsNode && {
      [`${prefix}/node-name`]: [node.name],
      ...(node.uid !== '' && { [`${prefix}/node-uid`]: [node.uid] }),
    }),
  }
}

export class ServiceAccountAuthenticator implements TokenAuthenticator {
  readonly name = 'service-account'
  readonly #settings: ServiceAccountSettings
  readonly #lookup: AccountLookup
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()
  readonly #tracks: boolean

  constructor(settings: ServiceAccountSettings, reader: ObjectReader, clock: Clock) {
    this.#settings = settings
    this.#lookup = new AccountLookup(reader, settings)
    this.#clock = clock
    this.#tracks = settings.feature('LegacyServiceAccountTokenTracking')
  }

  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult> {
    const digest = tokenDigest(token)
    const known = this.#known.get(digest) ?? this.#recognise(token, digest)
    if (known === undefined || 'refused' in known) return known
    const matching = this.#matching(known.claims, audiences)
    const now = this.#clock.now()
    if (typeof matching === 'string') return this.#refuse(matching, known, undefined, now)
    const problem = timeProblem(known.claims, now, this.#settings.release)
    if (problem !== undefined) return this.#refuse(problem, known, undefined, now)
    if (known.goodUntil > now) return this.#accept(known, matching, now)
    return this.#lookUp(token, known, matching)
  }

  /** Ends following what tokens depend on. */
  stop(): void {
    this.#lookup.stop()
  }

  #recognise(token: string, digest: string): Known | { refused: string } | undefined {
    const issuer = claimedIssuer(token)
    const legacy = issuer === legacyIssuer
    if (issuer === undefined || !(legacy || this.#settings.issuers.includes(issuer)))
      return undefined
    const parsed = parseToken(token)
    if (parsed === undefined) return undefined
    const { kid } = parsed.header
    const byId = this.#settings.keys.filter(({ id }) => id === kid)
    const others = this.#settings.keys.filter(({ id }) => id !== kid)
    if (![...byId, ...others].some((key) => isSignedBy(parsed, key)))
      return { refused: 'square/go-jose: error in cryptographic primitive' }
    try {
      const claims = (legacy ? legacyAccountClaims : boundAccountClaims)(parsed.claims)
      const known = new Known(claims, this.#settings.feature)
      this.#remember(digest, known)
      return known
    } catch (error) {
      if (error instanceof ClaimsError) return { refused: error.message }
      throw error
    }
  }

  #remember(digest: string, known: Known): void {
    if (this.#known.size >= rememberedMax) {
      const [oldest, dropped] = this.#known.entries().next().value as [string, Known]
      this.#known.delete(oldest)
      this.#lookup.forget(dropped.claims, dropped)
    }
    this.#known.set(digest, known)
    this.#lookup.watch(known.claims, known)
  }

  /** The requested audiences for which the token is valid, or the error if there are none. */
  #matching(claims: AccountClaims, requested: readonly string[]): string[] | string {
    const { apiAudiences } = this.#settings
    const own = claims.audiences.length > 0 ? claims.audiences : apiAudiences
    const wanted = requested.length > 0 ? requested : apiAudiences
    const matching = wanted.filter((one) => own.includes(one))
    if (matching.length > 0 || apiAudiences.length === 0) return matching
    return `token audiences ${showStrings(own)} is invalid for the target audiences ${showStrings(wanted)}`
  }

  async #lookUp(token: string, known: Known, matching: string[]): Promise<AuthenticationResult> {
    const { claims } = known
    if (claims.legacy && !this.#settings.lookup) {
      known.goodUntil = Number.POSITIVE_INFINITY
      return this.#accept(known, matching, this.#clock.now())
    }
    if (!this.#lookup.covers(claims)) await this.#lookup.ready(claims)
    for (let attempt = 1; ; attempt++) {
      const { changes } = known
      const now = this.#clock.now()
      const result = await this.#lookup.check(token, claims, now)
      if (changes !== known.changes && attempt < lookupAttemptsMax) continue
      known.secret = this.#tracks ? result.secret : undefined
      const { secret } = known
      if (result.problem === undefined && changes === known.changes)
        known.goodUntil = secret === undefined ? result.until : loadUses().nextDay(now)
      if (secret !== undefined) await this.#label(secret, known, now)
      if (result.problem === undefined) return this.#accept(known, matching, now)
      return this.#refuse(result.problem, known, secret, now)
    }
  }

  /** Concurrent uses do not wait: a webhook for Secrets may use the same token. */
  async #label(secret: TokenSecret, known: Known, now: number): Promise<void> {
    const { uses, report } = this.#settings
    const labels = loadUses().missingLabels(secret, now)
    if (uses === undefined || labels === undefined || known.isBeingLabelled) return
    known.isBeingLabelled = true
    try {
      await uses.label(secret, labels)
    } catch (error) {
      // The next use tries again.
      known.goodUntil = 0
      const { namespace, name } = secret
      const reason = (error as Error).message
      report?.(
        `the Secret ${namespace}/${name} of a legacy token could not be labelled with the day of its use: ${reason}`,
      )
    } finally {
      known.isBeingLabelled = false
    }
  }

  #accept(known: Known, matching: string[], now: number): AuthenticationResult {
    const { claims, user, secret } = known
    if (now >= known.countedUntil) {
      known.countedUntil = now + countedOnceMs
      this.#count(claims, secret, now)
    }
    const annotations = loadUses().annotationsOf(claims, secret, now, this.#settings.release)
    return {
      user,
      ...(matching.length > 0 && { audiences: matching }),
      ...(annotations !== undefined && { annotations }),
      ...(secret?.isGenerated && { warnings: [loadUses().generatedTokenWarning] }),
    }
  }

  #refuse(
    refused: string,
    { claims }: Known,
    secret: TokenSecret | undefined,
    now: number,
  ): { refused: string } {
    // Only a token that passed all other checks counts as stale or valid.
    const seen = { ...claims, warnAfter: 0 }
    this.#count(seen, secret, now)
    const annotations = loadUses().annotationsOf(seen, secret, now, this.#settings.release)
    return { refused, ...(annotations !== undefined && { annotations }) }
  }

  #count(claims: AccountClaims, secret: TokenSecret | undefined, now: number): void {
    const { uses } = this.#settings
    if (uses !== undefined)
      for (const use of loadUses().usesOf(claims, secret, now)) uses.count(use)
  }
}

/** The clocks of signer and verifier may differ by the leeway. */
function timeProblem({ notBefore, expires }: AccountClaims, now: number, release: Release) {
  if (now + leewayMs < notBefore) return timeWords(release).early
  return now - leewayMs > expires ? timeWords(release).late : undefined
}
