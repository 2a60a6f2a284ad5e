/**
 * The life cycle of metrics. The stability class is part of the help text. A deprecated metric has
 * a notice in its help. Three releases later it is hidden, unless a flag shows it. One release
 * after that it is removed.
 */
import { type ReleaseChange, isWithin, releaseOf } from '#api/releases/change.ts'

export type Stability = 'STABLE' | 'BETA' | 'ALPHA'

export interface LifeCycle {
  readonly stability: Stability
  /** The first minor release in which an ALPHA metric is BETA. */
  readonly betaSince?: number
  /** The first minor release in which an ALPHA metric is STABLE. */
  readonly stableSince?: number
  /** The minor release that deprecated it: 22 for 1.22. */
  readonly deprecatedSince?: number
  /** The metric to use instead of a deprecated one. */
  readonly replacedBy?: string
  /** The releases that have the metric; all if absent. */
  readonly only?: ReleaseChange
}

export type Presence = 'shown' | 'deprecated' | 'hidden' | 'absent'

/** Number of releases in which a deprecated metric stays visible. */
const visibleReleases = 3

const isFrom = (since: number | undefined, release: number): since is number =>
  since !== undefined && isWithin({ since }, release)

export function presence(life: LifeCycle, release: number, showHidden: boolean): Presence {
  const { deprecatedSince, only } = life
  if (only !== undefined && !releaseOf(release).has(only)) return 'absent'
  if (!isFrom(deprecatedSince, release)) return 'shown'
  const age = release - deprecatedSince
  if (age < visibleReleases) return 'deprecated'
  if (age > visibleReleases) return 'absent'
  return showHidden ? 'deprecated' : 'hidden'
}

function stabilityIn({ stability, betaSince, stableSince }: LifeCycle, release: number): Stability {
  if (isFrom(stableSince, release)) return 'STABLE'
  return isFrom(betaSince, release) ? 'BETA' : stability
}

/** `[STABLE] …`, `[ALPHA] (Deprecated from 1.22) …` */
export function helpText(life: LifeCycle, release: number, text: string): string {
  const { deprecatedSince } = life
  const deprecated = isFrom(deprecatedSince, release)
  return `[${stabilityIn(life, release)}] ${deprecated ? `(Deprecated from 1.${deprecatedSince}) ` : ''}${text}`
}

/**
 * Only the previous release is allowed, because a metric that it did not hide cannot be hidden
 * longer here.
 */
export function showHiddenProblem(version: string, release: number): string | undefined {
  if (version === `1.${release - 1}`) return undefined
  return `--show-hidden-metrics-for-version must be omitted or have the value '1.${release - 1}'. Only the previous minor version is allowed`
}
