/**
 * The versions of reviews, of admission and of conversion alike, one of which a webhook must take.
 */
import { change, releaseOf } from '#api/releases/change.ts'

const readsStableReviews = change('webhooks can use reviews of version v1 alone', { since: 17 })
const listsReviewVersions = change('errors list the review versions that a webhook can use', {
  since: 16,
})

const reviewVersionsIn = (release: number): readonly string[] =>
  releaseOf(release).has(readsStableReviews) ? ['v1', 'v1beta1'] : ['v1beta1']

/** Naming none is another fault. */
export const hasKnownReviewVersion = (
  versions: readonly string[] | null | undefined,
  release: number,
): boolean => !versions?.length || versions.some((one) => reviewVersionsIn(release).includes(one))

/** Why none of the versions of a webhook will do. */
export function noneKnown(release: number): string {
  const listed = reviewVersionsIn(release).join(', ')
  return releaseOf(release).has(listsReviewVersions)
    ? `must include at least one of ${listed}`
    : `none of the versions accepted by this server. accepted version(s) are ${listed}`
}

/** The message for an admission webhook without a version. */
export const oneOfThem = (release: number): string =>
  releaseOf(release).has(listsReviewVersions)
    ? `must specify one of ${reviewVersionsIn(release).join(', ')}`
    : ''
