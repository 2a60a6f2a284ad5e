/**
 * ID tokens of an OpenID Connect provider: signature, issuer, audience and dates are checked here, without asking the
 * provider per request; its claims become user name and groups by the flags. This server never logs anyone in.
 */
import type { Clock } from '#base/clock.ts'
import type { Loose } from '#api/object-meta.ts'
import type { TokenAuthenticator, Verdict } from '#access/authenticate.ts'
import type { Caller } from '#access/https-call.ts'
import { claimedIssuer } from './json-web-token.ts'
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
/** How much the provider's clock may be ahead of ours. */
const notBeforeLeewayMs = 60_000
/** Google's tokens leave out the scheme. */
const googleIssuer = 'accounts.google.com'

class Refusal extends Error {}

export class OidcAuthenticator implements TokenAuthenticator {
  readonly name = 'oidc'
  readonly #settings: OidcSettings
  readonly #provider: OidcProvider
  readonly #clock: Clock

  /** Throws where the settings cannot work. */
  constructor(
    settings: OidcSettings,
    call: Caller,
    clock: Clock,
    report: (message: string) => void,
    discoveryIntervalMs?: number,
  ) {
    this.#settings = checked(settings)
    this.#clock = clock
    this.#provider = new OidcProvider(settings.issuerUrl, call, clock, report, discoveryIntervalMs)
  }

  authenticateToken(token: string): Verdict | Promise<Verdict> {
    const issuer = claimedIssuer(token)
    const ours = issuer === googleIssuer ? `https://${googleIssuer}` : issuer
    return ours === this.#settings.issuerUrl ? this.#verify(token) : undefined
  }

  stop(): void {
    this.#provider.stop()
  }

  async #verify(token: string): Promise<Verdict> {
    if (!(await this.#provider.isFound())) return { refused: 'oidc: authenticator not initialized' }
    try {
      const claims = await this.#verifiedClaims(token)
      this.#checkClaims(claims)
      return { user: userOf(claims, this.#settings) }
    } catch (error) {
      const { message } = error as Error
      return { refused: error instanceof Refusal ? message : `oidc: verify token: ${message}` }
    }
  }

  async #verifiedClaims(token: string): Promise<Loose> {
    const { compactVerify, createLocalJWKSet, errors } = await import('jose')
    const options = { algorithms: [...this.#settings.signingAlgorithms] }
    const attempt = async () => {
      const keys = createLocalJWKSet(this.#provider.keys)
      try {
        return await compactVerify(token, keys, options)
      } catch (error) {
        // Keys without ids: any of them may be the one.
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
    const { clientId, requiredClaims } = this.#settings
    const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud]
    if (!audiences.includes(clientId))
      throw new Error(
        `expected audience ${JSON.stringify(clientId)} got ${JSON.stringify(audiences)}`,
      )
    const now = this.#clock.now()
    const { exp, nbf } = claims
    if (typeof exp !== 'number' || exp * 1000 < now) throw new Error('token is expired')
    if (nbf !== undefined && (typeof nbf !== 'number' || now + notBeforeLeewayMs < nbf * 1000))
      throw new Error('current time is before the nbf (not before) time')
    for (const [name, wanted] of Object.entries(requiredClaims)) {
      if (!Object.hasOwn(claims, name))
        throw new Refusal(`oidc: required claim ${name} not present in ID token`)
      if (typeof claims[name] !== 'string')
        throw new Refusal(`oidc: parse claim ${name}: not a string`)
      if (claims[name] !== wanted)
        throw new Refusal(`oidc: required claim ${name} value does not match`)
    }
  }
}

function userOf(claims: Loose, settings: OidcSettings) {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = settings
  const claim = (name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)
  const name = claim(usernameClaim)
  if (typeof name !== 'string') {
    const why = name === undefined ? 'claim not present' : 'not a string'
    throw new Refusal(`oidc: parse username claims ${JSON.stringify(usernameClaim)}: ${why}`)
  }
  const verified = claim('email_verified')
  if (usernameClaim === 'email' && verified !== undefined) {
    if (typeof verified !== 'boolean')
      throw new Refusal("oidc: parse 'email_verified' claim: not a boolean")
    if (!verified) throw new Refusal('oidc: email not verified')
  }
  const groups = groupsClaim === '' ? [] : groupsOf(claims, groupsClaim)
  return {
    name: usernamePrefix + name,
    uid: '',
    groups: groups.map((group) => groupsPrefix + group),
    extra: {},
  }
}

/** A list of strings, or a single one. */
function groupsOf(claims: Loose, name: string): string[] {
  if (!Object.hasOwn(claims, name)) {
    refuseDistributed(claims, name)
    return []
  }
  const groups = claims[name] ?? []
  const list: unknown[] = Array.isArray(groups) ? groups : [groups]
  if (!list.every((group) => typeof group === 'string'))
    throw new Refusal(`oidc: parse groups claim ${JSON.stringify(name)}: not strings`)
  return list as string[]
}

/** Groups that are kept elsewhere would have to be fetched from wherever the token says; we do not follow it. */
function refuseDistributed({ _claim_names: sources }: Loose, name: string): void {
  if (typeof sources !== 'object' || sources === null || !Object.hasOwn(sources, name)) return
  throw new Refusal(
    `oidc: could not expand distributed claims: the claim ${JSON.stringify(name)} is distributed, which is not supported`,
  )
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
