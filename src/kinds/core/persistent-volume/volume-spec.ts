/** Validates the spec of a PersistentVolume, and the inline volume spec of a VolumeAttachment. */
import { cleanPath } from '#base/clean-path.ts'
import { type FieldError, forbidden, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { checkOneOfIfSet, each, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkBasicResource, checkQuantityPositive } from '#kinds/all-kinds/resource-names.ts'
import { goResourceList } from '#kinds/all-kinds/go-quantity.ts'
import { checkModes, type OncePod } from '#kinds/core/persistent-volume-claim/access-modes.ts'
import { checkNodeSelector, hasInvalidNodeValues } from '#kinds/pod-template/node-affinity.ts'
import type { Context } from '#kinds/kind.ts'
import { checkVolumeSources, type SourceRules, sourceRules } from './volume-sources.ts'

const nodeValuesAreLabels = change('values of node affinity of volumes must be label values', {
  since: 33,
})

/** Validation options. They follow from the release, its feature gates and the old volume. */
export interface VolumeRules extends SourceRules {
  readonly hasAttributesClass: boolean
  /** Whether values in the node selector must be label values. */
  readonly checksNodeValues: boolean
}

export const volumeRules = ({ release, feature }: Context, old: Loose = {}): VolumeRules => ({
  ...sourceRules(release),
  hasAttributesClass:
    feature('VolumeAttributesClass') || old.volumeAttributesClassName !== undefined,
  checksNodeValues:
    releaseOf(release).has(nodeValuesAreLabels) &&
    !hasInvalidNodeValues(old.nodeAffinity?.required),
})

const inline = 'in the context of inline volumes'

export function checkVolumeSpec(
  spec: Loose,
  path: FieldPath,
  volumeName: string,
  once: OncePod,
  rules: VolumeRules,
): FieldError[] {
  const policy = path.child('persistentVolumeReclaimPolicy')
  return [
    ...checkAccessModes(spec.accessModes ?? [], path.child('accessModes'), once),
    ...checkCapacity(spec, path.child('capacity')),
    ...checkOneOfIfSet(
      spec.persistentVolumeReclaimPolicy || undefined,
      ['Delete', 'Recycle', 'Retain'],
      policy,
    ),
    ...checkNodeAffinity(spec.nodeAffinity, path.child('nodeAffinity'), rules.checksNodeValues),
    ...checkVolumeSources(spec, path, volumeName, rules),
    ...checkRecycledRoot(spec, policy),
    ...checkClassName(spec.storageClassName, path.child('storageClassName')),
    ...checkOneOfIfSet(spec.volumeMode, ['Block', 'Filesystem'], path.child('volumeMode')),
    ...(rules.hasAttributesClass ? checkAttributesClass(spec, path) : []),
  ]
}

/**
 * Validates the inline volume spec of a VolumeAttachment. Fields for stored volumes are rejected.
 */
export function checkInlineVolumeSpec(
  spec: Loose,
  path: FieldPath,
  once: OncePod,
  rules: VolumeRules,
): FieldError[] {
  const errors: FieldError[] = []
  const forbid = (field: string) =>
    errors.push(forbidden(path.child(field), `may not be specified ${inline}`))
  if (spec.claimRef) forbid('claimRef')
  if (sortedKeys(spec.capacity).length > 0) forbid('capacity')
  if (!spec.csi) errors.push(required(path.child('csi'), `has to be specified ${inline}`))
  errors.push(...checkAccessModes(spec.accessModes ?? [], path.child('accessModes'), once))
  const policy = path.child('persistentVolumeReclaimPolicy')
  if (spec.persistentVolumeReclaimPolicy && spec.persistentVolumeReclaimPolicy !== 'Retain') {
    errors.push(forbidden(policy, `may only be Retain ${inline}`))
  }
  if (spec.nodeAffinity) forbid('nodeAffinity')
  // Node affinity was rejected above, so the sources do not check it again.
  errors.push(...checkVolumeSources({ ...spec, nodeAffinity: undefined }, path, '', rules))
  errors.push(...checkRecycledRoot(spec, policy))
  if (spec.storageClassName) forbid('storageClassName')
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Filesystem') {
    const detail = `may not specify volumeMode other than Filesystem ${inline}`
    errors.push(forbidden(path.child('volumeMode'), detail))
  }
  if (rules.hasAttributesClass) errors.push(...checkAttributesClass(spec, path))
  return errors
}

const checkAccessModes = (modes: string[], path: FieldPath, once: OncePod): FieldError[] => [
  ...(modes.length === 0 ? [required(path)] : []),
  ...checkModes(modes, path, once),
]

function checkCapacity(spec: Loose, path: FieldPath): FieldError[] {
  const empty = wasWrittenEmpty(spec, 'capacity') ? {} : undefined
  const capacity: Record<string, string> | undefined = spec.capacity ?? empty
  const names = sortedKeys(capacity)
  const errors: FieldError[] = names.length === 0 ? [required(path)] : []
  if (names.length !== 1 || names[0] !== 'storage') {
    errors.push(notSupported(path, asGo(goResourceList(capacity)), ['storage']))
  }
  for (const name of names) {
    const value = capacity?.[name] as string
    errors.push(...checkBasicResource(value, path.key(name)))
    errors.push(...checkQuantityPositive(value, path.key(name)))
  }
  return errors
}

function checkNodeAffinity(
  affinity: Loose | undefined,
  path: FieldPath,
  checkValues: boolean,
): FieldError[] {
  if (!affinity) return []
  const at = path.child('required')
  if (affinity.required) return checkNodeSelector(affinity.required, at, checkValues)
  return [required(at, 'must specify required node constraints')]
}

function checkRecycledRoot(spec: Loose, path: FieldPath): FieldError[] {
  if (spec.persistentVolumeReclaimPolicy !== 'Recycle' || !spec.hostPath) return []
  if (cleanPath(spec.hostPath.path ?? '') !== '/') return []
  return [forbidden(path, "may not be 'recycle' for a hostPath mount of '/'")]
}

const checkClassName = (name: string | undefined, path: FieldPath): FieldError[] =>
  name ? each(path, name, nameIsDnsSubdomain(name, false)) : []

function checkAttributesClass(spec: Loose, path: FieldPath): FieldError[] {
  const name: string | undefined = spec.volumeAttributesClassName
  if (name === undefined) return []
  const at = path.child('volumeAttributesClassName')
  const errors =
    name === '' ? [required(at, 'an empty string is disallowed')] : checkClassName(name, at)
  if (spec.csi) return errors
  const detail = 'has to be specified when using volumeAttributesClassName'
  return [...errors, required(path.child('csi'), detail)]
}
