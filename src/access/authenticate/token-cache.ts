/**
 * Caches the results of a slow token authentication method for a limited time. Concurrent requests
 * with the same token share one call. Only digests of tokens are stored. Errors are never cached.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '#base/clock.ts'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import { ExpiringCache } from '#access/expiring-cache.ts'

/** Number of cached results: twice the number of nodes and namespaces of a very large cluster. */
const cacheSizeMax = 32 * 1024

export interface TokenCacheSettings {
  readonly successTtlMs: number
  readonly failureTtlMs: number
}

export class TokenCache implements TokenAuthenticator {
  readonly name: string
  readonly #method: TokenAuthenticator
  readonly #settings: TokenCacheSettings
  readonly #cache: ExpiringCache<{ verdict: AuthenticationResult }>
  readonly #pending = new Map<string, Promise<AuthenticationResult>>()
  /** A keyed digest, so that a client cannot choose tokens with the same cache key. */
  readonly #secret = randomBytes(32)

  constructor(method: TokenAuthenticator, settings: TokenCacheSettings, clock: Clock) {
    this.name = method.name
    this.#method = method
    this.#settings = settings
    this.#cache = new ExpiringCache(cacheSizeMax, clock)
  }

  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult> {
    const key = createHmac('sha256', this.#secret)
      .update(JSON.stringify([token, audiences]))
      .digest('base64')
    const cached = this.#cache.get(key)
    if (cached !== undefined) return cached.verdict
    const pending = this.#pending.get(key)
    if (pending !== undefined) return pending
    const verdict = this.#method.authenticateToken(token, audiences)
    if (!(verdict instanceof Promise)) return verdict
    const settled = verdict
      .then((one) => this.#keep(key, one))
      .finally(() => {
        this.#pending.delete(key)
      })
    this.#pending.set(key, settled)
    return settled
  }

  #keep(key: string, verdict: AuthenticationResult): AuthenticationResult {
    const { successTtlMs, failureTtlMs } = this.#settings
    if (verdict === undefined) this.#cache.set(key, { verdict }, failureTtlMs)
    else if ('user' in verdict) this.#cache.set(key, { verdict }, successTtlMs)
    return verdict
  }
}
