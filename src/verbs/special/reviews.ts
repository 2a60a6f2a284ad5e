/** Answers reviews: questions about access, which are not stored. */
import {
  checkReview,
  type ReviewKind,
  requireNamespace,
  reviewStatus,
  rulesReview,
} from '#access/subject-access-review.ts'
import { tokenReviewStatus } from '#access/token-review.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Answer } from '#verbs/answer.ts'
import { conformBody, settleNamespace, settlesFirst } from '#verbs/decode.ts'
import { claimFields } from '#verbs/ownership.ts'
import { type Server, timestamp, type WriteRequest } from '#verbs/server.ts'
import { admitBody } from './admit.ts'

const created = (value: Loose): Answer => ({ is: 'value', status: 201, value: value as never })

/** v1beta1 has `group` instead of `groups`. */
function renamed(review: KubeObject, from: string, to: string): KubeObject {
  if (!review.apiVersion?.endsWith('/v1beta1') || review.spec?.[from] === undefined) return review
  const { [from]: moved, ...spec } = review.spec as Loose
  return { ...review, spec: { ...spec, [to]: moved } }
}

/** The requested review, in the namespace of the path. */
function requestedReview(server: Server, request: WriteRequest): KubeObject {
  const review = conformBody(request, server)
  const { kind, namespace } = request.target
  if (releaseOf(server.release).has(settlesFirst)) settleNamespace(kind, review, namespace)
  return review
}

export const reviewAccess =
  (kind: ReviewKind) =>
  async (server: Server, request: WriteRequest): Promise<Answer> => {
    const requested = requestedReview(server, request)
    const rules = { release: releaseOf(server.release), feature: server.feature }
    await claimFields(server, request, requested, undefined)
    await admitBody(server, request, requested, requested.metadata.name ?? '', () => {
      const { namespace } = request.target
      checkReview(kind, renamed(requested, 'group', 'groups'), namespace, rules)
    })
    const status = await reviewStatus(
      kind,
      renamed(requested, 'group', 'groups'),
      request.user,
      server.access.authorizer,
      rules,
    )
    return created({ ...requested, status })
  }

export async function reviewRules(server: Server, request: WriteRequest): Promise<Answer> {
  const review = requestedReview(server, request)
  await claimFields(server, request, review, undefined)
  await admitBody(server, request, review, review.metadata.name ?? '', () => {
    requireNamespace(review)
  })
  const answer = rulesReview(review, request.user, server.access.rules, server.release)
  return created({ ...answer, apiVersion: review.apiVersion })
}

export async function reviewToken(server: Server, request: WriteRequest): Promise<Answer> {
  const review = requestedReview(server, request)
  await claimFields(server, request, review, undefined)
  await admitBody(server, request, review, review.metadata.name ?? '')
  const status = await tokenReviewStatus(review, server.access)
  return created({ ...review, status })
}

/**
 * The user that the server sees for a client. The body of the request does not matter; only
 * webhooks see it.
 */
export async function reviewSelf(server: Server, request: WriteRequest): Promise<Answer> {
  const review = requestedReview(server, request)
  await admitBody(server, request, review, review.metadata.name ?? '')
  const { name, uid, groups, extra } = request.user
  const userInfo = {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
  const { kind, apiVersion } = review
  const metadata = { creationTimestamp: timestamp(server.clock) }
  return created({ kind, apiVersion, metadata, status: { userInfo } })
}
