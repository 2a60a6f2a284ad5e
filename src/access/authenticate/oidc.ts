/**
 * Verifies ID tokens of an OpenID Connect provider: signature, issuer, audience and dates. It sends
 * no request to the provider for each token. Flags or a configuration file define how its claims
 * become a user. This server has no login.
 */
import type { Clock } from '#base/clock.ts'
import type { Loose } from '#api/object-meta.ts'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import type { Caller } from '#access/https-call.ts'
import { change, type Release } from '#api/releases/change.ts'
import { type ClaimRules, ClaimsRejection, userFrom } from './claims-user.ts'
import { claimedIssuer } from './json-web-token.ts'
import type { JwtIssuer } from './jwt-configuration.ts'
import { OidcProvider } from './oidc-provider.ts'

export interface OidcSettings {
  readonly issuerUrl: string
  readonly clientId: string
  readonly usernameClaim: string
  /** Empty for the default, `-` for none. */
  readonly usernamePrefix: string
  readonly groupsClaim: string
  readonly groupsPrefix: string
  readonly requiredClaims: Readonly<Record<string, string>>
  readonly signingAlgorithms: readonly string[]
}

const allowedAlgorithms = /^(RS|ES|PS)(256|384|512)$/
const showsTokenId = change('the id of a token of an OpenID provider is its credential-id', {
  since: 32,
})

/** The accepted signing algorithms if a configuration file specifies the issuers. */
const allAlgorithms = ['RS', 'ES', 'PS'].flatMap((family) =>
  [256, 384, 512].map((bits) => `${family}${bits}`),
)

/** How far the provider's clock may be ahead of this server's. */
const notBeforeLeewayMs = 60_000
/** Google's tokens omit the scheme of the issuer. */
const googleIssuer = 'accounts.google.com'

export class OidcAuthenticator implements TokenAuthenticator {
  readonly name = 'oidc'
  readonly #issuer: JwtIssuer
  readonly #rules: ClaimRules
  readonly #algorithms: readonly string[]
  readonly #provider: OidcProvider
  readonly #clock: Clock

  constructor(
    { issuer, algorithms = allAlgorithms, release }: OidcOptions,
    call: Caller,
    clock: Clock,
    report: (message: string) => void,
    discoveryIntervalMs?: number,
  ) {
    this.#issuer = issuer
    this.#rules = { ...issuer, showsTokenId: release.has(showsTokenId) }
    this.#algorithms = algorithms
    this.#clock = clock
    this.#provider = new OidcProvider(issuer, call, clock, report, discoveryIntervalMs)
  }

  authenticateToken(token: string): AuthenticationResult | Promise<AuthenticationResult> {
    const issuer = claimedIssuer(token)
    const ours = issuer === googleIssuer ? `https://${googleIssuer}` : issuer
    return ours === this.#issuer.url ? this.#verify(token) : undefined
  }

  /** Why tokens cannot be verified yet; undefined if they can. */
  async trouble(): Promise<string | undefined> {
    return (await this.#provider.isFound()) ? undefined : 'oidc: authenticator not initialized'
  }

  stop(): void {
    this.#provider.stop()
  }

  async #verify(token: string): Promise<AuthenticationResult> {
    const trouble = await this.trouble()
    if (trouble !== undefined) return { refused: trouble }
    try {
      const claims = await this.#verifiedClaims(token)
      this.#checkClaims(claims)
      return { user: userFrom(claims, this.#rules) }
    } catch (error) {
      const { message } = error as Error
      return {
        refused: error instanceof ClaimsRejection ? message : `oidc: verify token: ${message}`,
      }
    }
  }

  async #verifiedClaims(token: string): Promise<Loose> {
    const { compactVerify, createLocalJWKSet, errors } = await import('jose')
    const options = { algorithms: [...this.#algorithms] }
    const attempt = async () => {
      const keys = createLocalJWKSet(this.#provider.keys)
      try {
        return await compactVerify(token, keys, options)
      } catch (error) {
        // Without key ids, any of the keys may have signed the token, so try all.
        if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
        for await (const key of error) {
          try {
            return await compactVerify(token, key, options)
          } catch (mismatch) {
            if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch
          }
        }
        throw new errors.JWSSignatureVerificationFailed()
      }
    }
    let verified: Awaited<ReturnType<typeof attempt>>
    try {
      verified = await attempt()
    } catch (error) {
      const rotated =
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWSSignatureVerificationFailed
      if (!rotated || !(await this.#provider.refresh())) throw error
      verified = await attempt()
    }
    return JSON.parse(Buffer.from(verified.payload).toString('utf8'))
  }

  #checkClaims(claims: Loose): void {
    const known = this.#issuer.audiences
    const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud]
    if (!known.some((one) => audiences.includes(one))) {
      const expected = JSON.stringify(known.length === 1 ? known[0] : known)
      throw new Error(`expected audience ${expected} got ${JSON.stringify(audiences)}`)
    }
    const now = this.#clock.now()
    const { exp, nbf } = claims
    if (typeof exp !== 'number' || exp * 1000 < now) throw new Error('token is expired')
    if (nbf !== undefined && (typeof nbf !== 'number' || now + notBeforeLeewayMs < nbf * 1000))
      throw new Error('current time is before the nbf (not before) time')
  }
}

export interface OidcOptions {
  readonly issuer: JwtIssuer
  readonly algorithms?: readonly string[]
  readonly release: Release
}

/** The issuer that the flags specify. Throws if they are inconsistent. */
export function fromFlags(settings: OidcSettings, release: Release): OidcOptions {
  const known = checked(settings)
  const { groupsClaim, groupsPrefix } = known
  const issuer: JwtIssuer = {
    url: known.issuerUrl,
    discoveryUrl: '',
    audiences: [known.clientId],
    certificateAuthority: '',
    username: { claim: known.usernameClaim, prefix: known.usernamePrefix },
    groups: groupsClaim === '' ? undefined : { claim: groupsClaim, prefix: groupsPrefix },
    uid: undefined,
    extra: [],
    requiredClaims: new Map(Object.entries(known.requiredClaims)),
    claimRules: [],
    userRules: [],
  }
  return { issuer, algorithms: known.signingAlgorithms, release }
}

function checked(settings: OidcSettings): OidcSettings {
  const { issuerUrl, usernameClaim, usernamePrefix, signingAlgorithms } = settings
  const scheme = URL.parse(issuerUrl)?.protocol.slice(0, -1) ?? ''
  if (scheme !== 'https')
    throw new Error(
      `'oidc-issuer-url' (${JSON.stringify(issuerUrl)}) has invalid scheme (${JSON.stringify(scheme)}), require 'https'`,
    )
  if (usernameClaim === '') throw new Error('no username claim provided')
  for (const algorithm of signingAlgorithms)
    if (!allowedAlgorithms.test(algorithm))
      throw new Error(`oidc: unsupported signing alg: ${JSON.stringify(algorithm)}`)
  const prefix =
    usernamePrefix === '' && usernameClaim !== 'email' ? `${issuerUrl}#` : usernamePrefix
  return {
    ...settings,
    usernamePrefix: prefix === '-' ? '' : prefix,
    signingAlgorithms: signingAlgorithms.length > 0 ? signingAlgorithms : ['RS256'],
  }
}
