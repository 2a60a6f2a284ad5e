/** Answers a TokenReview with the authentication methods of requests. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { badRequest, internalError } from '#api/status-error.ts'
import type { AuthenticationResult } from './authenticate.ts'
import { joinErrors } from './error-list.ts'

/** Reviews tokens; Access in make-access.ts implements it. */
export interface TokenReviewer {
  reviewToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult>
  readonly apiAudiences: readonly string[]
}

/**
 * The status of a TokenReview. If no method recognises the token, the status that the client sent
 * is kept. Throws 400 without a token.
 */
export async function tokenReviewStatus(
  review: KubeObject,
  reviewer: TokenReviewer,
): Promise<Loose> {
  const token: string = review.spec?.token ?? ''
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  const requested: string[] = review.spec?.audiences ?? []
  const audiences = requested.length > 0 ? requested : reviewer.apiAudiences
  const { authenticated: _, ...stated }: Loose = { user: {}, ...review.status }
  const verdict = await reviewer.reviewToken(token, audiences)
  if (verdict === undefined || !('user' in verdict)) {
    const refusals = ['invalid bearer token', ...(verdict === undefined ? [] : [verdict.refused])]
    return { ...stated, error: joinErrors(refusals) }
  }
  const matching = verdict.audiences ?? []
  if (audiences.length > 0 && !audiences.some((one) => matching.includes(one)))
    throw internalError('error validating audiences')
  const { name, uid, groups, extra } = verdict.user
  return {
    authenticated: true,
    user: {
      ...(name !== '' && { username: name }),
      ...(uid !== '' && { uid }),
      ...(groups.length > 0 && { groups: [...groups] }),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
    ...(matching.length > 0 && { audiences: matching }),
    ...(stated.error && { error: stated.error }),
  }
}
