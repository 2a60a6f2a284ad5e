/**
 * The life cycle of metrics. The stability class is part of the help text. A deprecated metric has
 * a notice in its help. Some releases later it is hidden, unless a flag shows it.
 *
 *   up to 1.22      three releases later, and removed one release after that
 *   1.23 to 1.34    one release later
 *   from 1.35 on    three releases later if STABLE, one if BETA, at once if ALPHA
 */
import { change, type ReleaseChange, releaseOf } from '#api/releases/change.ts'

export type Stability = 'STABLE' | 'BETA' | 'ALPHA'

export interface LifeCycle {
  readonly stability: Stability
  /** The releases in which an ALPHA metric is BETA. */
  readonly beta?: ReleaseChange
  /** The releases in which an ALPHA metric is STABLE. */
  readonly stable?: ReleaseChange
  /** Deprecated from the first release of the change on. */
  readonly deprecated?: ReleaseChange
  /** The change whose first release the notice names, if it is not the first with the notice. */
  readonly deprecatedWith?: ReleaseChange
  /** The metric to use instead of a deprecated one. */
  readonly replacedBy?: string
  /** The releases that have the metric; all if absent. */
  readonly only?: ReleaseChange
}

export type Presence = 'shown' | 'deprecated' | 'hidden' | 'absent'

const hidesAfterOneRelease = change('metrics are hidden one release after their deprecation', {
  since: 23,
})
const hidesByClass = change('how long deprecated metrics are shown depends on their class', {
  since: 35,
})

/** Number of releases in which a deprecated metric stays visible. */
function visibleReleases(life: LifeCycle, release: number): number {
  const { has } = releaseOf(release)
  if (has(hidesByClass)) return visibleByClass[stabilityIn(life, release)]
  return has(hidesAfterOneRelease) ? 1 : 3
}
const visibleByClass: Readonly<Record<Stability, number>> = { STABLE: 3, BETA: 1, ALPHA: 0 }

/** The minor release that deprecated the metric: 22 for 1.22. */
export const deprecatedSince = ({
  deprecated,
  deprecatedWith = deprecated,
}: LifeCycle): number | undefined => deprecatedWith?.spans[0]?.since

export function presence(life: LifeCycle, release: number, showHidden: boolean): Presence {
  const { has } = releaseOf(release)
  const { deprecated, only } = life
  if (only !== undefined && !has(only)) return 'absent'
  if (deprecated === undefined || !has(deprecated)) return 'shown'
  const age = release - (deprecatedSince(life) ?? release)
  const visible = visibleReleases(life, release)
  if (age < visible) return 'deprecated'
  if (age > visible && !has(hidesAfterOneRelease)) return 'absent'
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
