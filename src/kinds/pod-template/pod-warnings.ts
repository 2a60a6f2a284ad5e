/**
 * Values in a pod that are allowed and probably a mistake: they cause a warning, never an error.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { quantityMilliValue } from '#api/quantity.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'
import { deprecatedNodeLabels } from '#kinds/all-kinds/deprecated-node-labels.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { containersWithPaths } from './containers-of.ts'
import { containerSeccompPrefix, podSeccompKey } from './seccomp.ts'

const warnsOfPods = change('pods and pod templates answer with warnings', { since: 22 })

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
/** Field, path if it differs, and the message. */
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
  if (!template || !releaseOf(context.release).has(warnsOfPods)) return []
  const spec: Loose = template.spec ?? {}
  const meta: ObjectMeta = template.metadata ?? {}
  const specPath = path.child('spec')
  const annotations = meta.annotations ?? {}
  const annotationPath = (key: string) => path.child('metadata', 'annotations').key(key)
  const warnings: string[] = []
  warnOfNodeLabels(warnings, spec, specPath)
  for (const [key, message] of deprecatedAnnotations) {
    if (Object.hasOwn(annotations, key)) warnings.push(`${annotationPath(key)}: ${message}`)
  }
  warnOfVolumes(warnings, spec, specPath)
  warnOfDoubles(warnings, spec, 'hostAliases', 'ip', specPath)
  warnOfDoubles(warnings, spec, 'imagePullSecrets', 'name', specPath)
  ;((spec.imagePullSecrets ?? []) as Loose[]).forEach((secret, i) => {
    if (secret.name) return
    const at = specPath.child('imagePullSecrets').index(i).child('name')
    warnings.push(`${at}: invalid empty name ""`)
  })
  warnOfDoubles(warnings, spec, 'volumes', 'name', specPath)
  warnOfFractions(warnings, spec, 'overhead', 'memory', specPath)
  warnOfFractions(warnings, spec, 'overhead', 'ephemeral-storage', specPath)
  const seccomp = (holder: Loose, key: string) => {
    if (holder.securityContext?.seccompProfile || !Object.hasOwn(annotations, key)) return
    const message = 'deprecated since v1.19; use the "seccompProfile" field instead'
    warnings.push(`${annotationPath(key)}: ${message}`)
  }
  seccomp(spec, podSeccompKey)
  const ephemeral = context.feature('EphemeralContainers')
  for (const { container, path: at } of containersWithPaths(spec, specPath, ephemeral)) {
    seccomp(container, containerSeccompPrefix + (container.name ?? ''))
    const { resources } = container
    if (resources) {
      const resourcesPath = at.child('resources')
      for (const name of byteResources) {
        warnOfFractions(warnings, resources, 'limits', name, resourcesPath)
        warnOfFractions(warnings, resources, 'requests', name, resourcesPath)
      }
    }
    warnOfDoubles(warnings, container, 'env', 'name', at)
  }
  return warnings
}

/**
 * What holders of a template are warned of: when it is new, and when a change of it was counted.
 */
export const templateWarnings = (
  path: FieldPath,
  templateOf: (object: KubeObject) => Loose,
): Required<Pick<Behaviour, 'warningsOnCreate' | 'warningsOnUpdate'>> => ({
  warningsOnCreate: (object, context) => podWarnings(templateOf(object), path, context),
  warningsOnUpdate: (next, old, context) =>
    next.metadata.generation === old.metadata.generation
      ? []
      : podWarnings(templateOf(next), path, context),
})

const byteResources = ['memory', 'ephemeral-storage']

function warnOfNodeLabels(warnings: string[], spec: Loose, path: FieldPath): void {
  if (spec.nodeSelector) {
    for (const key of sortedKeys(spec.nodeSelector)) {
      const message = deprecatedNodeLabels.get(key)
      if (message !== undefined) warnings.push(`${path.child('nodeSelector').key(key)}: ${message}`)
    }
  }
  if (spec.affinity?.nodeAffinity || spec.topologySpreadConstraints)
    warnOfTerms(warnings, spec, path)
}

function warnOfTerms(warnings: string[], spec: Loose, path: FieldPath): void {
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
}

function warnOfVolumes(warnings: string[], spec: Loose, path: FieldPath): void {
  ;((spec.volumes ?? []) as Loose[]).forEach((volume, i) => {
    for (const [field, shown, message] of deprecatedVolumes) {
      if (!volume[field]) continue
      warnings.push(`${path.child('volumes').index(i).child(shown)}: ${message}`)
    }
  })
}

/** Items of a list that say the same in a field. */
function warnOfDoubles(
  warnings: string[],
  holder: Loose,
  list: string,
  field: string,
  path: FieldPath,
): void {
  const items: Loose[] = holder[list] ?? []
  if (items.length < 2) return
  const seen = new Set<string>()
  items.forEach((item, i) => {
    const value: string = item[field] ?? ''
    if (seen.has(value)) {
      const at = path.child(list).index(i).child(field)
      warnings.push(`${at}: duplicate ${field} ${goQuote(value)}`)
    }
    seen.add(value)
  })
}

/** The storage that a claim requests or limits in fractions of bytes. */
export function fractionWarnings(resources: Loose | undefined, path: FieldPath): string[] {
  const warnings: string[] = []
  for (const list of ['requests', 'limits']) {
    warnOfFractions(warnings, resources ?? {}, list, 'storage', path)
  }
  return warnings
}

function warnOfFractions(
  warnings: string[],
  holder: Loose,
  list: string,
  name: string,
  path: FieldPath,
): void {
  const amount: string | undefined = holder[list]?.[name]
  if (amount === undefined || quantityMilliValue(amount) % 1000n === 0n) return
  const at = path.child(list).key(name)
  warnings.push(`${at}: fractional byte value ${goQuote(amount)} is invalid, must be an integer`)
}
