/** The field in which a priority level of the stored version has its shares of the concurrency. */
import { change, type Release } from './releases/change.ts'

const sharesAreNominal = change('priority levels call their shares nominalConcurrencyShares', {
  since: 26,
})

export const sharesField = (release: Release) =>
  release.has(sharesAreNominal) ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares'
