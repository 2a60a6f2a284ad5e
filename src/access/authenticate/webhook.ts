/**
 * Authenticates tokens by a remote service with a TokenReview. Every failure is a rejection: a
 * service that is unavailable, slow or faulty authenticates no user.
 */
import type { Loose } from '#api/object-meta.ts'
import type { TokenAuthenticator, AuthenticationResult } from '#access/authenticate.ts'
import type { ReviewWebhook } from '#access/review-webhook.ts'
import type { User } from '#access/user.ts'

export class WebhookTokenAuthenticator implements TokenAuthenticator {
  readonly name = 'webhook'
  readonly #webhook: ReviewWebhook
  readonly #version: string
  readonly #apiAudiences: readonly string[]

  constructor(webhook: ReviewWebhook, version: 'v1' | 'v1beta1', apiAudiences: readonly string[]) {
    this.#webhook = webhook
    this.#version = version
    this.#apiAudiences = apiAudiences
  }

  async authenticateToken(
    token: string,
    audiences: readonly string[],
  ): Promise<AuthenticationResult> {
    const apiVersion = `authentication.k8s.io/${this.#version}`
    const spec = { token, ...(audiences.length > 0 && { audiences }) }
    let status: Loose
    try {
      status = await this.#webhook.review(apiVersion, 'TokenReview', spec)
    } catch (error) {
      return { refused: (error as Error).message }
    }
    const matching = this.#matching(status.audiences, audiences)
    if (matching === undefined) return undefined
    if (status.authenticated !== true) {
      const { error } = status
      return typeof error === 'string' && error !== '' ? { refused: error } : undefined
    }
    const user = userOf(status.user)
    if (user === undefined) return { refused: 'the webhook answered with a malformed user' }
    return { user, ...(matching.length > 0 && { audiences: matching }) }
  }

  /**
   * The requested audiences for which the token is valid. A response without audiences means this
   * server's audiences.
   */
  #matching(answered: unknown, requested: readonly string[]): string[] | undefined {
    if (requested.length === 0) return []
    const good = isTexts(answered) && answered.length > 0 ? answered : this.#apiAudiences
    const matching = good.filter((one) => requested.includes(one))
    return matching.length > 0 ? matching : undefined
  }
}

function userOf(given: unknown): User | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const { username, uid = '', groups = [], extra = {} } = given as Loose
  if (typeof username !== 'string' || typeof uid !== 'string' || !isTexts(groups ?? []))
    return undefined
  if (typeof extra !== 'object' || Array.isArray(extra)) return undefined
  if (!Object.values(extra ?? {}).every((values) => isTexts(values ?? []))) return undefined
  return { name: username, uid, groups: groups ?? [], extra: extra ?? {} }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
