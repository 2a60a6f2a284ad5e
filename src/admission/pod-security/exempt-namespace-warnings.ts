/** A namespace that is exempt from PodSecurity gets a warning when its labels select a policy. */
import { goQuote } from '#api/go-syntax.ts'
import type { Labels } from '#api/label-requirement.ts'
import { change, type Release } from '#api/releases/change.ts'
import { labelPrefix, type LevelVersion, modes, type Policy, policyText } from './policy.ts'

const exemptIsWarned = change('PodSecurity warns of labels of exempt namespaces', { since: 25 })
const warnedByLabel = change(
  'PodSecurity warns of exempt namespaces only for the modes that their labels set',
  { since: 26 },
)

const isSame = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && (a.level === 'privileged' || a.version === b.version)

export function exemptNamespaceWarnings(
  name: string,
  policy: Policy,
  defaults: Policy,
  labels: Labels | undefined,
  release: Release,
): string[] {
  if (!release.has(exemptIsWarned)) return []
  const strict = modes.filter((mode) => policy[mode].level !== 'privileged')
  if (strict.length === 0 || modes.every((mode) => isSame(policy[mode], defaults[mode]))) return []
  const isLabelled = (mode: string) =>
    labels?.[labelPrefix + mode] !== undefined ||
    labels?.[`${labelPrefix}${mode}-version`] !== undefined
  const ignored = release.has(warnedByLabel) ? strict.filter(isLabelled) : strict
  const text = ignored.map((mode) => `${mode}=${policyText(policy[mode])}`).join(', ')
  return [
    `namespace ${goQuote(name)} is exempt from Pod Security, and the policy (${text}) will be ignored`,
  ]
}
