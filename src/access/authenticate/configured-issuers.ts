/**
 * The issuers of --authentication-config. The file is read again while the server runs. A valid
 * configuration replaces the previous one as a whole, when its providers are discovered. An
 * invalid configuration changes nothing, and a provider that cannot be found is tried again.
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import { joinErrors } from '#access/error-list.ts'
import type { Caller } from '#access/https-call.ts'
import type { ReloadMeter } from '#access/settings.ts'
import type { Release } from '#api/releases/change.ts'
import type { Clock } from '#base/clock.ts'
import {
  type AuthenticationConfiguration,
  type JwtIssuer,
  readAuthenticationConfiguration,
} from './jwt-configuration.ts'
import { OidcAuthenticator } from './oidc.ts'

export interface IssuersOptions {
  readonly file: string
  readonly release: Release
  readonly feature: (gate: string) => boolean
  /** Whether the command line decides about anonymous requests, so that the file may not. */
  readonly anonymousGiven: boolean
  readonly ownIssuers: readonly string[]
  readonly clock: Clock
  readonly caller: (issuer: JwtIssuer) => Caller
  readonly report: (message: string) => void
  readonly reloaded?: ReloadMeter | undefined
  /** How often the file is checked, in milliseconds; default: a minute. */
  readonly readAgainMs?: number
  /** How long discovery may take when the file is read again; default: a minute. */
  readonly findMsMax?: number
}

const readAgainMsUsual = 60_000
const findMsMaxUsual = 60_000
const lookMs = 250

const flagAndFile =
  'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file'

export class ConfiguredIssuers implements TokenAuthenticator {
  readonly name = 'jwt'
  readonly #options: IssuersOptions
  readonly #timer: NodeJS.Timeout
  /** Only the file of the start decides about anonymous requests. */
  readonly anonymous: AuthenticationConfiguration['anonymous']
  #text: string
  #issuers: readonly OidcAuthenticator[]
  #isReading = false
  #isStopped = false

  /** Throws if the file is invalid. */
  constructor(options: IssuersOptions) {
    this.#options = options
    this.#text = readFileSync(options.file, 'utf8')
    const configuration = this.#read()
    this.anonymous = configuration.anonymous
    if (this.anonymous !== undefined && options.anonymousGiven) throw new Error(flagAndFile)
    this.#issuers = this.#begin(configuration)
    this.#timer = setInterval(
      () => void this.#readAgain(),
      options.readAgainMs ?? readAgainMsUsual,
    ).unref()
  }

  authenticateToken(token: string): AuthenticationResult | Promise<AuthenticationResult> {
    for (const issuer of this.#issuers) {
      const verdict = issuer.authenticateToken(token)
      if (verdict !== undefined) return verdict
    }
    return undefined
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
    stopAll(this.#issuers)
  }

  #read(): AuthenticationConfiguration {
    const { file, release, feature, ownIssuers } = this.#options
    return readAuthenticationConfiguration(file, release, feature, ownIssuers)
  }

  #begin({ issuers }: AuthenticationConfiguration): OidcAuthenticator[] {
    const { release, clock, caller, report } = this.#options
    return issuers.map(
      (issuer) => new OidcAuthenticator({ issuer, release }, caller(issuer), clock, report),
    )
  }

  async #readAgain(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      if (await this.#replace()) this.#options.reloaded?.(true)
    } catch (error) {
      this.#options.reloaded?.(false)
      this.#options.report(`issuers stay as they were: ${(error as Error).message}`)
    } finally {
      this.#isReading = false
    }
  }

  /** Returns whether the issuers were replaced. */
  async #replace(): Promise<boolean> {
    const text = readFileSync(this.#options.file, 'utf8')
    if (text === this.#text) return false
    const before = this.#text
    // The same invalid text is parsed and reported only once.
    this.#text = text
    const configuration = this.#read()
    if (!isSame(configuration.anonymous, this.anonymous))
      throw new Error('anonymous: Forbidden: changed from initial configuration file')
    const issuers = this.#begin(configuration)
    const troubles = await this.#find(issuers)
    if (this.#isStopped || troubles.length > 0) stopAll(issuers)
    if (this.#isStopped) return false
    if (troubles.length > 0) {
      // The next time the same text is tried again, because a provider may be found then.
      this.#text = before
      throw new Error(joinErrors([joinErrors(troubles), 'context deadline exceeded']))
    }
    const replaced = this.#issuers
    this.#issuers = issuers
    stopAll(replaced)
    return true
  }

  /** Resolves when all providers are found. After a timeout or a stop, returns the troubles. */
  async #find(issuers: readonly OidcAuthenticator[]): Promise<string[]> {
    const end = Date.now() + (this.#options.findMsMax ?? findMsMaxUsual)
    for (;;) {
      const found = await Promise.all(issuers.map((issuer) => issuer.trouble()))
      const troubles = found.filter((one) => one !== undefined)
      if (troubles.length === 0 || this.#isStopped || Date.now() >= end) return troubles
      await sleep(lookMs, undefined, { ref: false })
    }
  }
}

function stopAll(issuers: readonly OidcAuthenticator[]): void {
  for (const issuer of issuers) issuer.stop()
}

type Anonymous = AuthenticationConfiguration['anonymous']

/** The order of the paths counts, as in kube-apiserver. */
const isSame = (one: Anonymous, other: Anonymous): boolean =>
  isDeepStrictEqual(
    one && [one.enabled, [...(one.paths ?? [])]],
    other && [other.enabled, [...(other.paths ?? [])]],
  )
