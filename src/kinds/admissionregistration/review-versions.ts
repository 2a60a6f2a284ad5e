/**
 * Checks that a webhook of admission or of conversion lists a version of AdmissionReview or
 * ConversionReview that kube-apiserver can send. Also makes the error messages.
 */
import { change, releaseOf } from '#api/releases/change.ts'

const readsStableReviews = change('webhooks can use reviews of version v1 alone', { since: 17 })
const listsReviewVersions = change('errors list the review versions that a webhook can use', {
  since: 16,
})

const reviewVersionsIn = (release: number): readonly string[] =>
  releaseOf(release).has(readsStableReviews) ? ['v1', 'v1beta1'] : ['v1beta1']

/** Returns true for an empty list, because another check reports a missing version. */
export const hasKnownReviewVersion = (
  versions: readonly string[] | null | undefined,
  release: number,
): boolean =>
  !versions?.length || versions.some((version) => reviewVersionsIn(release).includes(version))

/** The message for a webhook that lists no version that the release knows. */
export function unknownVersionsMessage(release: number): string {
  const listed = reviewVersionsIn(release).join(', ')
  return releaseOf(release).has(listsReviewVersions)
    ? `must include at least one of ${listed}`
    : `none of the versions accepted by this server. accepted version(s) are ${listed}`
}

/** The message for an admission webhook without a version. Empty before 1.16. */
export const missingVersionMessage = (release: number): string =>
  releaseOf(release).has(listsReviewVersions)
    ? `must specify one of ${reviewVersionsIn(release).join(', ')}`
    : ''
