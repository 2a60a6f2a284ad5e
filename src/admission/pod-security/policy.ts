/** What a namespace asks of its pods, by labels: a level and a version each for refusing, for the audit log and for warnings. */
import type { Labels } from '#api/label-requirement.ts'
import { together } from '#admission/refusal.ts'

export const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

/** Minor number of 1.x; undefined for the newest there is. */
export type Version = number | undefined

export interface LevelVersion {
  readonly level: Level
  readonly version: Version
}
export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]
export type Policy = Readonly<Record<Mode, LevelVersion>>

export const labelPrefix = 'pod-security.kubernetes.io/'
export const levelProblem = `must be one of ${levels.join(', ')}`
export const versionProblem = 'must be "latest" or "v1.x"'

export const isLevel = (text: string): text is Level => (levels as readonly string[]).includes(text)

export function parseVersion(text: string): { version: Version } | undefined {
  if (text === 'latest') return { version: undefined }
  const found = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text)
  return found === null ? undefined : { version: Number(found[1]) }
}

export const versionText = (version: Version): string =>
  version === undefined ? 'latest' : `v1.${version}`

/** A label that says nothing meaningful is the strictest there is where it counts, and nothing where it only tells. */
export function policyOf(labels: Labels | undefined, defaults: Policy): [Policy, string?] {
  const problems: string[] = []
  const of = (mode: Mode): LevelVersion => {
    let { level, version } = defaults[mode]
    const title = `${mode[0]?.toUpperCase()}${mode.slice(1)}`
    const asked = labels?.[labelPrefix + mode]
    if (asked !== undefined && isLevel(asked)) level = asked
    else if (asked !== undefined) {
      problems.push(`${title}.Level: ${levelProblem}`)
      level = mode === 'enforce' ? 'restricted' : 'privileged'
    }
    const since = labels?.[`${labelPrefix}${mode}-version`]
    const parsed = since === undefined ? { version } : parseVersion(since)
    if (parsed === undefined) problems.push(`${title}.Version: ${versionProblem}`)
    version = parsed?.version
    return { level, version }
  }
  const policy = { enforce: of('enforce'), audit: of('audit'), warn: of('warn') }
  return problems.length === 0 ? [policy] : [policy, together(problems)]
}

export const isStricter = (a: Level, b: Level): boolean => levels.indexOf(a) > levels.indexOf(b)
