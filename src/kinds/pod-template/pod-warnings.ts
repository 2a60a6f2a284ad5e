/**
 * Values in a pod that are allowed and probably a mistake: they cause a warning, never an error.
 */
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { labelValue } from '#api/names.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { quantityMilliValue } from '#api/quantity.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'
import { legacyIpWarnings } from '#kinds/all-kinds/legacy-addresses.ts'
import { deprecatedNodeLabels } from '#kinds/all-kinds/deprecated-node-labels.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { loadLater } from '#base/load-later.ts'
import {
  appArmorIsField,
  appArmorPrefix,
  profileOfAnnotation,
  replacedByField,
  sameProfile,
} from './app-armor.ts'
import { containersWithPaths } from './containers-of.ts'
import { portNameWarnings, portWarnings } from './port-warnings.ts'
import { containerSeccompPrefix, podSeccompKey } from './seccomp.ts'

const loadPaths = loadLater<typeof import('./path-warnings.ts')>(import.meta.url, './path-warnings')

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

const saysDropped = change(
  'warnings of flocker, storageOS and quobyte say since when they do nothing',
  {
    since: 23,
  },
)
const warnsOfGluster = change('glusterfs volumes have a warning', { since: 25 })
const warnsOfCeph = change('cephfs and rbd volumes have a warning', { since: 28 })
const gitRepoIsOff = change('warnings of gitRepo say that it is off', { since: 33 })

/** The deprecated volume sources of a release: field, path if it differs, and message. */
function deprecatedVolumesIn({
  has,
  feature,
}: Warned): readonly (readonly [string, string, string])[] {
  const removal = has(saysDropped)
    ? 'deprecated in v1.22, non-functional in v1.25+'
    : 'deprecated in v1.22, support removal is planned in v1.26'
  const gitRepo =
    has(gitRepoIsOff) && !feature('GitRepoVolumeDriver')
      ? 'deprecated in v1.11, and disabled by default in v1.33+'
      : 'deprecated in v1.11'
  const ceph = 'deprecated in v1.28, non-functional in v1.31+'
  return [
    [
      'photonPersistentDisk',
      'photonPersistentDisk',
      'deprecated in v1.11, non-functional in v1.16+',
    ],
    ['gitRepo', 'gitRepo', gitRepo],
    ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
    ['flocker', 'flocker', removal],
    ['storageos', 'storageOS', removal],
    ['quobyte', 'quobyte', removal],
    ...(has(warnsOfGluster)
      ? [['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'] as const]
      : []),
    ...(has(warnsOfCeph)
      ? [['cephfs', 'cephfs', ceph] as const, ['rbd', 'rbd', ceph] as const]
      : []),
  ]
}

/** The release and gates that determine the warnings. */
interface Warned {
  readonly has: Release['has']
  readonly feature: (gate: string) => boolean
}

const seccompDoesNothing = change('seccomp annotations have a warning that they do nothing', {
  since: 27,
})
const warnsOfTemplates = change('warnings of pods cover more than deprecated fields', { since: 28 })
const warnsOfNames = change('containers that name ports alike have a warning', { since: 33 })
const warnsOfNegativeGrace = change('a negative grace period has a warning', { since: 27 })
const warnsOfPaths = change('files of volumes with overlapping paths have a warning', { since: 32 })
const warnsOfAddresses = change('addresses of pods in unusual form have a warning', { since: 33 })
const warnsOfClaims = change('claims of ephemeral volumes have warnings', { since: 26 })

/** Warnings for a template at `path`; FieldPath.root for a pod itself. */
export function podWarnings(
  template: Loose | null | undefined,
  path: FieldPath,
  context: Context,
): string[] {
  const { has } = releaseOf(context.release)
  if (!template || !has(warnsOfPods)) return []
  const spec: Loose = template.spec ?? {}
  const meta: ObjectMeta = template.metadata ?? {}
  const specPath = path.child('spec')
  const annotations = meta.annotations ?? {}
  const annotationPath = (key: string) => path.child('metadata', 'annotations').key(key)
  const warnings: string[] = []
  const isLater = has(warnsOfTemplates)
  warnOfNodeLabels(warnings, spec, specPath, has)
  for (const [key, message] of deprecatedAnnotations) {
    if (Object.hasOwn(annotations, key)) warnings.push(`${annotationPath(key)}: ${message}`)
  }
  warnOfVolumes(warnings, spec, specPath, { has, feature: context.feature })
  if (has(warnsOfPaths)) warnings.push(...loadPaths().pathWarnings(spec))
  warnOfDoubles(warnings, spec, 'hostAliases', 'ip', specPath)
  warnOfDoubles(warnings, spec, 'imagePullSecrets', 'name', specPath)
  ;((spec.imagePullSecrets ?? []) as Loose[]).forEach((secret, i) => {
    if (secret.name) return
    const at = specPath.child('imagePullSecrets').index(i).child('name')
    warnings.push(`${at}: invalid empty name ""`)
  })
  if (!isLater) warnOfDoubles(warnings, spec, 'volumes', 'name', specPath)
  warnOfFractions(warnings, spec, 'overhead', 'memory', specPath)
  warnOfFractions(warnings, spec, 'overhead', 'ephemeral-storage', specPath)
  warnOfContainers(warnings, { spec, annotations, path, has, feature: context.feature })
  if (isLater) {
    warnings.push(...portWarnings(spec, specPath))
    if (has(warnsOfNames)) warnings.push(...portNameWarnings(spec, specPath))
  }
  if (has(warnsOfNegativeGrace) && spec.terminationGracePeriodSeconds < 0) {
    const at = specPath.child('terminationGracePeriodSeconds')
    warnings.push(`${at}: must be >= 0; negative values are invalid and will be treated as 1`)
  }
  if (isLater) warnOfMissingSelectors(warnings, spec, specPath)
  if (has(warnsOfAddresses)) warnOfAddresses(warnings, spec, specPath, context.release)
  return warnings
}

interface Parts extends Warned {
  readonly spec: Loose
  readonly annotations: Readonly<Record<string, string>>
  readonly path: FieldPath
}

function warnOfContainers(warnings: string[], parts: Parts): void {
  const { spec, annotations, path, has, feature } = parts
  const annotationPath = (key: string) => path.child('metadata', 'annotations').key(key)
  const message = has(seccompDoesNothing)
    ? 'non-functional in v1.27+; use the "seccompProfile" field instead'
    : 'deprecated since v1.19; use the "seccompProfile" field instead'
  const seccomp = (holder: Loose, key: string) => {
    if (holder.securityContext?.seccompProfile || !Object.hasOwn(annotations, key)) return
    warnings.push(`${annotationPath(key)}: ${message}`)
  }
  seccomp(spec, podSeccompKey)
  const ephemeral = feature('EphemeralContainers')
  for (const { container, path: at } of containersWithPaths(spec, path.child('spec'), ephemeral)) {
    seccomp(container, containerSeccompPrefix + (container.name ?? ''))
    if (has(appArmorIsField) && path !== FieldPath.root) {
      const key = appArmorPrefix + (container.name ?? '')
      if (isReplaced(container, spec, annotations, key))
        warnings.push(replacedByField(annotationPath(key)))
    }
    const { resources } = container
    if (resources) {
      const resourcesPath = at.child('resources')
      for (const name of byteResources) {
        warnOfFractions(warnings, resources, 'limits', name, resourcesPath)
        warnOfFractions(warnings, resources, 'requests', name, resourcesPath)
      }
    }
    if (has(warnsOfTemplates)) warnOfHiddenVariables(warnings, container, at)
    else warnOfDoubles(warnings, container, 'env', 'name', at)
  }
}

/**
 * Whether an annotation of a pod template should be replaced by a field. For pods, the server
 * converts the annotation itself.
 */
function isReplaced(
  container: Loose,
  spec: Loose,
  annotations: Parts['annotations'],
  key: string,
): boolean {
  if (container.securityContext?.appArmorProfile || !Object.hasOwn(annotations, key)) return false
  const ofPod = spec.securityContext?.appArmorProfile
  return !ofPod || !sameProfile(ofPod, profileOfAnnotation(annotations[key] as string))
}

/** A variable may be defined again only if the second definition uses the first: `$(A):b`. */
function warnOfHiddenVariables(warnings: string[], container: Loose, path: FieldPath): void {
  const variables: Loose[] = container.env ?? []
  const names = new Set<string>()
  variables.forEach(({ name = '', value = '', valueFrom }, i) => {
    const reference = `$(${name})`
    const extendsFirst = !valueFrom && value !== reference && value.includes(reference)
    if (names.has(name) && !extendsFirst) {
      const detail = `hides previous definition of ${goQuote(name)}, which may be dropped when using apply`
      warnings.push(`${path.child('env').index(i)}: ${detail}`)
    }
    names.add(name)
  })
}

const noSelector = 'a null labelSelector results in matching no pod'

function warnOfMissingSelectors(warnings: string[], spec: Loose, path: FieldPath): void {
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity: Loose = spec.affinity?.[kind] ?? {}
    const at = path.child('affinity', kind)
    const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
    const wanted = 'preferredDuringSchedulingIgnoredDuringExecution'
    ;((affinity[needed] ?? []) as Loose[]).forEach((term, i) => {
      if (term.labelSelector) return
      warnings.push(`${at.child(needed).index(i).child('labelSelector')}: ${noSelector}`)
    })
    ;((affinity[wanted] ?? []) as Loose[]).forEach((term, i) => {
      if (term.podAffinityTerm?.labelSelector) return
      const termAt = at.child(wanted).index(i).child('podAffinityTerm', 'labelSelector')
      warnings.push(`${termAt}: ${noSelector}`)
    })
  }
}

function warnOfAddresses(warnings: string[], spec: Loose, path: FieldPath, release: number): void {
  ;((spec.dnsConfig?.nameservers ?? []) as string[]).forEach((server, i) => {
    const at = path.child('dnsConfig', 'nameservers').index(i)
    warnings.push(...legacyIpWarnings(server, at, release))
  })
  ;((spec.hostAliases ?? []) as Loose[]).forEach(({ ip = '' }, i) => {
    const at = path.child('hostAliases').index(i).child('ip')
    warnings.push(...legacyIpWarnings(ip, at, release))
  })
}

/**
 * Warnings of workloads with a pod template: on create, and on updates that raised the generation.
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

function warnOfNodeLabels(
  warnings: string[],
  spec: Loose,
  path: FieldPath,
  has: Release['has'],
): void {
  if (spec.nodeSelector) {
    for (const key of sortedKeys(spec.nodeSelector)) {
      const message = deprecatedNodeLabels.get(key)
      if (message !== undefined) warnings.push(`${path.child('nodeSelector').key(key)}: ${message}`)
    }
  }
  if (spec.affinity?.nodeAffinity || spec.topologySpreadConstraints)
    warnOfTerms(warnings, spec, path, has)
}

function warnOfTerms(warnings: string[], spec: Loose, path: FieldPath, has: Release['has']): void {
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
    const termAt = at.child(wanted).index(i).child('preference')
    expressions(term.preference, termAt)
    if (has(warnsOfValues)) warnings.push(...valueWarnings(term.preference, termAt))
  })
  ;((spec.topologySpreadConstraints ?? []) as Loose[]).forEach((constraint, i) => {
    const constraintPath = path.child('topologySpreadConstraints').index(i)
    check(constraint.topologyKey, constraintPath.child('topologyKey'))
    if (!has(warnsOfTemplates) || constraint.labelSelector) return
    warnings.push(`${constraintPath.child('labelSelector')}: ${noSelector}`)
  })
}

const warnsOfValues = change(
  'values of preferred node affinity that are no label values have a warning',
  {
    since: 33,
  },
)

function valueWarnings(term: Loose | undefined, path: FieldPath): string[] {
  return ((term?.matchExpressions ?? []) as Loose[]).flatMap(({ values }, i) =>
    ((values ?? []) as string[]).flatMap((value, k) => {
      const at = path.child('matchExpressions').index(i).child('values').index(k)
      return labelValue(value).map((problem) => `${at}: ${value} is invalid, ${problem}`)
    }),
  )
}

function warnOfVolumes(warnings: string[], spec: Loose, path: FieldPath, warned: Warned): void {
  const deprecated = deprecatedVolumesIn(warned)
  ;((spec.volumes ?? []) as Loose[]).forEach((volume, i) => {
    for (const [field, shown, message] of deprecated) {
      if (!volume[field]) continue
      warnings.push(`${path.child('volumes').index(i).child(shown)}: ${message}`)
    }
    const claim: Loose | undefined = volume.ephemeral?.volumeClaimTemplate ?? undefined
    if (claim === undefined || !warned.has(warnsOfClaims)) return
    const at = path.child('volumes').index(i).child('ephemeral', 'volumeClaimTemplate', 'spec')
    warnings.push(...fractionWarnings(claim.spec?.resources, at.child('resources')))
  })
}

/** Warns about list items with the same value in a field. */
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
