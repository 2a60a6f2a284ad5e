/** The versions of reviews, of admission and of conversion alike, one of which a webhook must take. */

/** A release takes reviews of the versions that the one before it knew, which had the first alone until 1.16. */
const stableReviewsSince = 17
/** The first release whose words these are. */
const wordsSince = 16

const reviewVersionsIn = (release: number): readonly string[] =>
  release < stableReviewsSince ? ['v1beta1'] : ['v1', 'v1beta1']

/** Naming none is another fault. */
export const hasKnownReviewVersion = (
  versions: readonly string[] | null | undefined,
  release: number,
): boolean => !versions?.length || versions.some((one) => reviewVersionsIn(release).includes(one))

/** Why none of the versions of a webhook will do. */
export function noneKnown(release: number): string {
  const listed = reviewVersionsIn(release).join(', ')
  return release < wordsSince
    ? `none of the versions accepted by this server. accepted version(s) are ${listed}`
    : `must include at least one of ${listed}`
}

/** What is said where a webhook of admission names no version. */
export const oneOfThem = (release: number): string =>
  release < wordsSince ? '' : `must specify one of ${reviewVersionsIn(release).join(', ')}`
