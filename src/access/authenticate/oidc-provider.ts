/**
 * An OpenID Connect provider. Discovery is retried until it succeeds. The keys are fetched again if
 * a token names an unknown key. A rate limit applies to these requests, whatever tokens arrive.
 */
import type { JSONWebKeySet } from 'jose'
import { type Clock, elapsedMs } from '#base/clock.ts'
import { TokenBucket } from '#base/token-bucket.ts'
import type { Caller } from '#access/https-call.ts'
import type { JwtIssuer } from './jwt-configuration.ts'

/** The pause before a failed discovery is repeated. */
const discoveryIntervalMs = 10_000
const timeoutMs = 30_000
const documentBytesMax = 1024 * 1024
/**
 * The rate limit for fetches that unknown keys cause: several at once for a key rotation, then one
 * per interval.
 */
const fetchesAtOnceMax = 5
const fetchesPerSecond = 0.1

export class OidcProvider {
  readonly #issuer: string
  readonly #discoveryUrl: string
  readonly #call: Caller
  readonly #clock: Clock
  readonly #report: (message: string) => void
  #keySetUrl: URL | undefined
  #keys: JSONWebKeySet = { keys: [] }
  #fetching: Promise<void> | undefined
  readonly #fetches: TokenBucket
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #discovering: Promise<void>

  constructor(
    { url, discoveryUrl }: Pick<JwtIssuer, 'url' | 'discoveryUrl'>,
    call: Caller,
    clock: Clock,
    report: (message: string) => void,
    intervalMs = discoveryIntervalMs,
  ) {
    this.#issuer = url
    this.#discoveryUrl = discoveryUrl
    this.#call = call
    this.#clock = clock
    this.#report = report
    this.#fetches = new TokenBucket(fetchesPerSecond, fetchesAtOnceMax, elapsedMs(clock))
    this.#discovering = this.#discover(intervalMs)
  }

  /** Whether discovery of the provider has succeeded. Waits for an attempt in progress. */
  async isFound(): Promise<boolean> {
    await this.#discovering
    return this.#keySetUrl !== undefined
  }

  get keys(): JSONWebKeySet {
    return this.#keys
  }

  /** Fetches the keys again. Returns false without a request if the rate limit is exceeded. */
  async refresh(): Promise<boolean> {
    if (this.#fetching === undefined) {
      if (!this.#fetches.take(elapsedMs(this.#clock))) return false
      this.#fetching = this.#fetchKeys().finally(() => {
        this.#fetching = undefined
      })
    }
    await this.#fetching
    return true
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #discover(intervalMs: number): Promise<void> {
    try {
      const below = `${this.#issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
      const where = this.#discoveryUrl === '' ? below : this.#discoveryUrl
      const found = await this.#document(new URL(where))
      const { issuer, jwks_uri: uri } = found as { issuer?: unknown; jwks_uri?: unknown }
      if (issuer !== this.#issuer)
        throw new Error(
          `issuer did not match the issuer returned by provider, expected ${JSON.stringify(this.#issuer)} got ${JSON.stringify(issuer)}`,
        )
      const url = typeof uri === 'string' ? URL.parse(uri) : null
      if (url?.protocol !== 'https:') throw new Error('the provider names no https URL of its keys')
      this.#keySetUrl = url
    } catch (error) {
      this.#report(`oidc authenticator: initializing plugin: ${(error as Error).message}`)
      if (this.#stopped) return
      this.#timer = setTimeout(() => {
        this.#discovering = this.#discover(intervalMs)
      }, intervalMs)
      this.#timer.unref()
    }
  }

  async #fetchKeys(): Promise<void> {
    const found = await this.#document(this.#keySetUrl as URL)
    const { keys } = found as { keys?: unknown }
    if (!Array.isArray(keys)) throw new Error('the provider answered with no set of keys')
    // Uses only public keys for signatures. Shared secrets and keys for other purposes are ignored.
    const usable = keys.filter(
      (key) =>
        (key?.kty === 'RSA' || key?.kty === 'EC') && (key.use === undefined || key.use === 'sig'),
    )
    this.#keys = { keys: usable }
  }

  async #document(url: URL): Promise<object> {
    const headers = { accept: 'application/json' }
    const call = { method: 'GET', url, headers, timeoutMs, answerBytesMax: documentBytesMax }
    const { status, body } = await this.#call(call as Parameters<Caller>[0])
    if (status !== 200) throw new Error(`GET ${url.origin}${url.pathname}: status ${status}`)
    const value: unknown = JSON.parse(body)
    if (typeof value !== 'object' || value === null)
      throw new Error(`GET ${url.origin}${url.pathname}: no JSON object`)
    return value
  }
}
