/**
 * Parses the configuration of the PodSecurity plugin: the defaults for namespaces without labels,
 * and the exemptions.
 */
import { type FieldError, duplicate, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { dns1123Label, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { together } from '#admission/refusal.ts'
import {
  isLevel,
  levelProblem,
  modes,
  parseVersion,
  type Policy,
  versionProblem,
} from './policy.ts'

export interface Exemptions {
  readonly usernames: readonly string[]
  readonly namespaces: readonly string[]
  readonly runtimeClasses: readonly string[]
}

const path = FieldPath.of('exemptions')
const rules: Readonly<Record<keyof Exemptions, (name: string) => string[]>> = {
  namespaces: (name) => dns1123Label(name),
  runtimeClasses: (name) => nameIsDnsSubdomain(name, false),
  usernames: (name) => (name === '' ? ['username must not be empty'] : []),
}

function checkNames(names: readonly string[], field: keyof Exemptions): FieldError[] {
  return names.flatMap((name, i) => {
    const at = path.child(field).index(i)
    const problems = rules[field](name)
    if (problems.length > 0) return [invalid(at, name, problems.join(', '))]
    return names.indexOf(name) < i ? [duplicate(at, name)] : []
  })
}

const group = 'pod-security.admission.config.k8s.io'
const readsBeta = change('PodSecurity reads its configuration as v1beta1', { since: 23 })
const readsStable = change('PodSecurity reads its configuration as v1', { since: 25 })
const namesFields = change('PodSecurity names the fields of its configuration', { since: 23 })

const versionsOf = (release: Release): string[] => [
  `${group}/v1alpha1`,
  ...(release.has(readsBeta) ? [`${group}/v1beta1`] : []),
  ...(release.has(readsStable) ? [`${group}/v1`] : []),
]

/** Throws an error that lists all problems. */
export function podSecurityConfiguration(
  configuration: Loose | undefined,
  release: Release,
): {
  defaults: Policy
  exemptions: Exemptions
} {
  const { kind, apiVersion, defaults = {}, exemptions = {} } = configuration ?? {}
  if (
    configuration !== undefined &&
    (kind !== 'PodSecurityConfiguration' || !versionsOf(release).includes(apiVersion))
  ) {
    throw new Error(`no kind "${kind ?? ''}" is registered for version "${apiVersion ?? ''}"`)
  }
  const errors: FieldError[] = []
  const unset: string[] = []
  const entries = modes.map((mode) => {
    const title = `${mode[0]?.toUpperCase()}${mode.slice(1)}`
    const [levelAt, versionAt] = release.has(namesFields)
      ? [mode, `${mode}-version`]
      : [`${title}.Level`, `${title}.Version`]
    const level: string = defaults[mode] || 'privileged'
    const parsed = parseVersion(defaults[`${mode}-version`] || 'latest')
    if (!isLevel(level)) unset.push(`${levelAt}: ${levelProblem}`)
    if (parsed === undefined) unset.push(`${versionAt}: ${versionProblem}`)
    return [mode, { level, version: parsed?.version }]
  })
  if (unset.length > 0) throw new Error(`PodSecurity configuration error: ${together(unset)}`)
  const namesOf = (field: keyof Exemptions): string[] => exemptions[field] ?? []
  const found: Exemptions = {
    namespaces: namesOf('namespaces'),
    runtimeClasses: namesOf('runtimeClasses'),
    usernames: namesOf('usernames'),
  }
  for (const field of ['namespaces', 'runtimeClasses', 'usernames'] as const)
    errors.push(...checkNames(found[field], field))
  if (errors.length > 0) {
    const stated = errors.map(({ field, message }) => `${field}: ${message}`)
    throw new Error(`PodSecurity invalid: ${together(stated)}`)
  }
  return { defaults: Object.fromEntries(entries), exemptions: found }
}
