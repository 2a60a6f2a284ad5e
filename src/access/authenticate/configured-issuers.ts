/**
 * The issuers of --authentication-config. The file is read again while the server runs. A valid
 * configuration replaces the previous one as a whole, when its providers are discovered or a
 * timeout has passed. An invalid configuration changes nothing.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import type { Caller } from '#access/https-call.ts'
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
  readonly ownIssuers: readonly string[]
  readonly clock: Clock
  readonly caller: (issuer: JwtIssuer) => Caller
  readonly report: (message: string) => void
  /** How often the file is checked, in milliseconds; default: a minute. */
  readonly readAgainMs?: number
}

const readAgainMsUsual = 60_000
/** How long discovery of new issuers may take. After this time they replace the old ones anyway. */
const findMsMax = 60_000
const lookMs = 250

export class ConfiguredIssuers implements TokenAuthenticator {
  readonly name = 'jwt'
  readonly #options: IssuersOptions
  readonly #timer: NodeJS.Timeout
  #text: string
  #configuration: AuthenticationConfiguration
  #issuers: readonly OidcAuthenticator[]

  /** Throws if the file is invalid. */
  constructor(options: IssuersOptions) {
    this.#options = options
    this.#text = readFileSync(options.file, 'utf8')
    this.#configuration = this.#read()
    this.#issuers = this.#begin(this.#configuration)
    this.#timer = setInterval(
      () => void this.#readAgain(),
      options.readAgainMs ?? readAgainMsUsual,
    ).unref()
  }

  get anonymous(): AuthenticationConfiguration['anonymous'] {
    return this.#configuration.anonymous
  }

  authenticateToken(token: string): AuthenticationResult | Promise<AuthenticationResult> {
    for (const issuer of this.#issuers) {
      const verdict = issuer.authenticateToken(token)
      if (verdict !== undefined) return verdict
    }
    return undefined
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const issuer of this.#issuers) issuer.stop()
  }

  #read(): AuthenticationConfiguration {
    const { file, release, ownIssuers } = this.#options
    return readAuthenticationConfiguration(file, release, ownIssuers)
  }

  #begin({ issuers }: AuthenticationConfiguration): OidcAuthenticator[] {
    const { release, clock, caller, report } = this.#options
    return issuers.map(
      (issuer) => new OidcAuthenticator({ issuer, release }, caller(issuer), clock, report),
    )
  }

  async #readAgain(): Promise<void> {
    const { file, report } = this.#options
    try {
      const text = readFileSync(file, 'utf8')
      if (text === this.#text) return
      this.#text = text
      const configuration = this.#read()
      const issuers = this.#begin(configuration)
      await this.#found(issuers)
      const before = this.#issuers
      this.#configuration = configuration
      this.#issuers = issuers
      for (const issuer of before) issuer.stop()
    } catch (error) {
      report(`issuers stay as they were: ${(error as Error).message}`)
    }
  }

  async #found(issuers: readonly OidcAuthenticator[]): Promise<void> {
    for (const end = Date.now() + findMsMax; Date.now() < end; ) {
      const troubles = await Promise.all(issuers.map((issuer) => issuer.trouble()))
      if (troubles.every((one) => one === undefined)) return
      await sleep(lookMs, undefined, { ref: false })
    }
  }
}
