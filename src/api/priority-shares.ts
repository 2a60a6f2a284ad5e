/** Reads the concurrency shares of priority levels in the stored version. */
import { change, type Release } from './releases/change.ts'

const sharesAreNominal = change('priority levels call their shares nominalConcurrencyShares', {
  since: 26,
})

export const levelsLend = change('priority levels lend a share of their seats', { since: 26 })
export const exemptHasShares = change('the exempt priority level has shares that can be changed', {
  since: 28,
})

/** The field with the shares. */
export const sharesField = (release: Release) =>
  release.has(sharesAreNominal) ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares'
