/**
 * The pod security policy of a namespace, from its labels: a level and a version each for enforce,
 * audit and warn.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { Labels } from '#api/label-requirement.ts'
import { change, type Release } from '#api/releases/change.ts'

export const levels = ['privileged', 'baseline', 'restricted'] as const
export type PodSecurityLevel = (typeof levels)[number]

/** The minor release of 1.x; undefined for the newest. */
export type Version = number | undefined

export interface LevelVersion {
  readonly level: PodSecurityLevel
  readonly version: Version
}
export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]
export type Policy = Readonly<Record<Mode, LevelVersion>>

export const labelPrefix = 'pod-security.kubernetes.io/'
export const levelProblem = `must be one of ${levels.join(', ')}`
export const versionProblem = 'must be "latest" or "v1.x"'

export const isLevel = (text: string): text is PodSecurityLevel =>
  (levels as readonly string[]).includes(text)

export function parseVersion(text: string): { version: Version } | undefined {
  if (text === 'latest') return { version: undefined }
  const found = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text)
  return found === null ? undefined : { version: Number(found[1]) }
}

export const versionText = (version: Version): string =>
  version === undefined ? 'latest' : `v1.${version}`

/** "restricted:latest" */
export const policyText = ({ level, version }: LevelVersion): string =>
  `${level}:${versionText(version)}`

const enforcedIsWarned = change('PodSecurity warns at the level that it enforces', { since: 26 })
const labelsPath = FieldPath.of('metadata', 'labels')

/** A problem with a label, and the place that releases before 1.23 report. */
export interface LabelProblem {
  readonly error: FieldError
  readonly place: string
}

/**
 * An invalid `enforce` label selects the strictest level; an invalid `audit` or `warn` label has no
 * effect. If the enforced level is stricter than the warn level, warnings use the enforced level.
 */
export function policyOf(
  labels: Labels | undefined,
  defaults: Policy,
  release: Release,
): { policy: Policy; problems: readonly LabelProblem[] } {
  const problems: LabelProblem[] = []
  const wrong = (label: string, place: string, detail: string) =>
    problems.push({ error: invalid(labelsPath.key(label), labels?.[label], detail), place })
  const of = (mode: Mode): LevelVersion => {
    let { level, version } = defaults[mode]
    const title = `${mode[0]?.toUpperCase()}${mode.slice(1)}`
    const label = labelPrefix + mode
    const wanted = labels?.[label]
    if (wanted !== undefined && isLevel(wanted)) level = wanted
    else if (wanted !== undefined) {
      wrong(label, `${title}.Level`, levelProblem)
      level = mode === 'enforce' ? 'restricted' : 'privileged'
    }
    const since = labels?.[`${label}-version`]
    const parsed = since === undefined ? { version } : parseVersion(since)
    if (parsed === undefined) wrong(`${label}-version`, `${title}.Version`, versionProblem)
    version = parsed?.version
    return { level, version }
  }
  const policy = { enforce: of('enforce'), audit: of('audit'), warn: of('warn') }
  const enforced = labels?.[`${labelPrefix}enforce`]
  if (
    release.has(enforcedIsWarned) &&
    enforced !== undefined &&
    isLevel(enforced) &&
    labels?.[`${labelPrefix}warn`] === undefined &&
    isStricter(enforced, policy.warn.level)
  ) {
    const { version } =
      labels?.[`${labelPrefix}warn-version`] === undefined ? policy.enforce : policy.warn
    policy.warn = { level: enforced, version }
  }
  return { policy, problems }
}

export const isStricter = (a: PodSecurityLevel, b: PodSecurityLevel): boolean =>
  levels.indexOf(a) > levels.indexOf(b)
