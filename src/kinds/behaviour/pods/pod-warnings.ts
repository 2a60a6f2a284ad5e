/** Things in a pod that are allowed and probably not meant: told in the Warning header, never refused. */
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { quantityMilliValue } from '#api/quantity.ts'
import { sortedKeys } from '#kinds/behaviour/checks.ts'
import type { Context } from '#kinds/kind.ts'
import { containersWithPaths } from './containers-of.ts'
import { containerSeccompPrefix, podSeccompKey } from './seccomp.ts'

/** The first release that warns about pods. */
const firstRelease = 22

const deprecatedNodeLabels = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    'failure-domain.beta.kubernetes.io/region',
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    'failure-domain.beta.kubernetes.io/zone',
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    'beta.kubernetes.io/instance-type',
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
])

const deprecatedAnnotations: readonly (readonly [string, string])[] = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    'security.alpha.kubernetes.io/sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
  [
    'security.alpha.kubernetes.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
]

const removal = 'deprecated in v1.22, support removal is planned in v1.26'
/** Field, path where it differs, and what is said. */
const deprecatedVolumes: readonly (readonly [string, string, string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', removal],
  ['storageos', 'storageOS', removal],
  ['quobyte', 'quobyte', removal],
]

/** Warnings for a template at `path`; FieldPath.root for a pod itself. */
export function podWarnings(
  template: Loose | null | undefined,
  path: FieldPath,
  context: Context,
): string[] {
  if (!template || context.release < firstRelease) return []
  const spec: Loose = template.spec ?? {}
  const meta: ObjectMeta = template.metadata ?? {}
  const specPath = path.child('spec')
  const annotationsPath = path.child('metadata', 'annotations')
  const annotations = meta.annotations ?? {}
  const warnings = [...nodeLabelWarnings(spec, specPath)]
  for (const [key, message] of deprecatedAnnotations) {
    if (Object.hasOwn(annotations, key)) warnings.push(`${annotationsPath.key(key)}: ${message}`)
  }
  warnings.push(...volumeWarnings(spec, specPath.child('volumes')))
  warnings.push(...duplicates(spec.hostAliases, 'ip', specPath.child('hostAliases')))
  const secrets: Loose[] = spec.imagePullSecrets ?? []
  const secretsPath = specPath.child('imagePullSecrets')
  warnings.push(...duplicates(secrets, 'name', secretsPath))
  secrets.forEach((secret, i) => {
    if (secret.name) return
    warnings.push(`${secretsPath.index(i).child('name')}: invalid empty name ""`)
  })
  warnings.push(...duplicates(spec.volumes, 'name', specPath.child('volumes')))
  warnings.push(...fractions(spec.overhead, 'memory', specPath.child('overhead')))
  warnings.push(...fractions(spec.overhead, 'ephemeral-storage', specPath.child('overhead')))
  const seccomp = (holder: Loose, key: string) => {
    if (holder.securityContext?.seccompProfile || !Object.hasOwn(annotations, key)) return
    const message = 'deprecated since v1.19; use the "seccompProfile" field instead'
    warnings.push(`${annotationsPath.key(key)}: ${message}`)
  }
  seccomp(spec, podSeccompKey)
  const ephemeral = context.feature('EphemeralContainers')
  for (const { container, path: at } of containersWithPaths(spec, specPath, ephemeral)) {
    seccomp(container, containerSeccompPrefix + (container.name ?? ''))
    for (const resource of ['memory', 'ephemeral-storage']) {
      for (const list of ['limits', 'requests']) {
        warnings.push(
          ...fractions(container.resources?.[list], resource, at.child('resources', list)),
        )
      }
    }
    warnings.push(...duplicates(container.env, 'name', at.child('env')))
  }
  return warnings
}

function nodeLabelWarnings(spec: Loose, path: FieldPath): string[] {
  const warnings: string[] = []
  for (const key of sortedKeys(spec.nodeSelector)) {
    const message = deprecatedNodeLabels.get(key)
    if (message !== undefined) warnings.push(`${path.child('nodeSelector').key(key)}: ${message}`)
  }
  const check = (key: string | undefined, at: FieldPath) => {
    const message = deprecatedNodeLabels.get(key ?? '')
    if (message !== undefined) warnings.push(`${at}: ${key} is ${message}`)
  }
  const expressions = (term: Loose | undefined, at: FieldPath) => {
    ;((term?.matchExpressions ?? []) as Loose[]).forEach((expression, i) => {
      check(expression.key, at.child('matchExpressions').index(i).child('key'))
    })
  }
  const affinity: Loose = spec.affinity?.nodeAffinity ?? {}
  const at = path.child('affinity', 'nodeAffinity')
  const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
  const wanted = 'preferredDuringSchedulingIgnoredDuringExecution'
  ;((affinity[needed]?.nodeSelectorTerms ?? []) as Loose[]).forEach((term, i) => {
    expressions(term, at.child(needed, 'nodeSelectorTerms').index(i))
  })
  ;((affinity[wanted] ?? []) as Loose[]).forEach((term, i) => {
    expressions(term.preference, at.child(wanted).index(i).child('preference'))
  })
  ;((spec.topologySpreadConstraints ?? []) as Loose[]).forEach((constraint, i) => {
    const constraintPath = path.child('topologySpreadConstraints').index(i)
    check(constraint.topologyKey, constraintPath.child('topologyKey'))
  })
  return warnings
}

function volumeWarnings(spec: Loose, path: FieldPath): string[] {
  const warnings: string[] = []
  ;((spec.volumes ?? []) as Loose[]).forEach((volume, i) => {
    for (const [field, shown, message] of deprecatedVolumes) {
      if (volume[field]) warnings.push(`${path.index(i).child(shown)}: ${message}`)
    }
  })
  return warnings
}

function duplicates(items: Loose[] | null | undefined, field: string, path: FieldPath): string[] {
  const warnings: string[] = []
  const seen = new Set<string>()
  ;(items ?? []).forEach((item, i) => {
    const value: string = item[field] ?? ''
    if (seen.has(value)) {
      warnings.push(`${path.index(i).child(field)}: duplicate ${field} ${goQuote(value)}`)
    }
    seen.add(value)
  })
  return warnings
}

function fractions(
  amounts: Readonly<Record<string, string>> | null | undefined,
  name: string,
  path: FieldPath,
): string[] {
  const amount = amounts?.[name]
  if (amount === undefined || quantityMilliValue(amount) % 1000n === 0n) return []
  const shown = goQuote(amount)
  return [`${path.key(name)}: fractional byte value ${shown} is invalid, must be an integer`]
}
