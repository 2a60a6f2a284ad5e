/**
 * The life cycle of metrics. The stability class is part of the help text. A deprecated metric has
 * a notice in its help. Three releases later it is hidden, unless a flag shows it. One release
 * after that it is removed.
 */
import { type ReleaseChange, releaseOf } from '#api/releases/change.ts'

export type Stability = 'STABLE' | 'BETA' | 'ALPHA'

export interface LifeCycle {
  readonly stability: Stability
  /** The releases in which an ALPHA metric is BETA. */
  readonly beta?: ReleaseChange
  /** The releases in which an ALPHA metric is STABLE. */
  readonly stable?: ReleaseChange
  /** Deprecated from the first release of the change on. */
  readonly deprecated?: ReleaseChange
  /** The metric to use instead of a deprecated one. */
  readonly replacedBy?: string
  /** The releases that have the metric; all if absent. */
  readonly only?: ReleaseChange
}

export type Presence = 'shown' | 'deprecated' | 'hidden' | 'absent'

/** Number of releases in which a deprecated metric stays visible. */
const visibleReleases = 3

/** The minor release that deprecated the metric: 22 for 1.22. */
export const deprecatedSince = ({ deprecated }: LifeCycle): number | undefined =>
  deprecated?.spans[0]?.since

export function presence(life: LifeCycle, release: number, showHidden: boolean): Presence {
  const { has } = releaseOf(release)
  const { deprecated, only } = life
  if (only !== undefined && !has(only)) return 'absent'
  if (deprecated === undefined || !has(deprecated)) return 'shown'
  const age = release - (deprecatedSince(life) ?? release)
  if (age < visibleReleases) return 'deprecated'
  if (age > visibleReleases) return 'absent'
  return showHidden ? 'deprecated' : 'hidden'
}

function stabilityIn({ stability, beta, stable }: LifeCycle, release: number): Stability {
  const { has } = releaseOf(release)
  if (stable !== undefined && has(stable)) return 'STABLE'
  return beta !== undefined && has(beta) ? 'BETA' : stability
}

/** `[STABLE] …`, `[ALPHA] (Deprecated from 1.22) …` */
export function helpText(life: LifeCycle, release: number, text: string): string {
  const { deprecated } = life
  const isDeprecated = deprecated !== undefined && releaseOf(release).has(deprecated)
  const notice = isDeprecated ? `(Deprecated from 1.${deprecatedSince(life)}) ` : ''
  return `[${stabilityIn(life, release)}] ${notice}${text}`
}

/**
 * Only the previous release is allowed, because a metric that it did not hide cannot be hidden
 * longer here.
 */
export function showHiddenProblem(version: string, release: number): string | undefined {
  if (version === `1.${release - 1}`) return undefined
  return `--show-hidden-metrics-for-version must be omitted or have the value '1.${release - 1}'. Only the previous minor version is allowed`
}
