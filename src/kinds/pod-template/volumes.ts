/**
 * Validates the volumes of a pod or pod template: each has a unique name and exactly one valid
 * source. Returns the errors, and the valid volumes by name for the checks of mounts.
 */
import { duplicate, type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { dns1123Label, longerThan, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { checkOneOf, each } from '#kinds/all-kinds/checks.ts'
import {
  checkAwsVolume,
  checkAzureDiskVolume,
  checkFibreChannelVolume,
  checkGceVolume,
  checkIscsiVolume,
} from './block-volumes.ts'
import { checkEphemeralVolume } from './ephemeral-volume.ts'
import {
  checkConfigMapVolume,
  checkDownwardVolume,
  checkProjectedVolume,
  checkSecretVolume,
} from './file-volumes.ts'
import {
  checkAzureFileVolume,
  checkCephfsVolume,
  checkCinderVolume,
  checkClaimVolume,
  checkCsiVolume,
  checkEmptyDirVolume,
  checkFlexVolume,
  checkFlockerVolume,
  checkGitRepoVolume,
  checkGlusterfsVolume,
  checkHostPathVolume,
  checkNfsVolume,
  checkPhotonVolume,
  checkPortworxVolume,
  checkQuobyteVolume,
  checkRbdVolume,
  checkScaleIoVolume,
  checkStorageOsVolume,
  checkVsphereVolume,
} from './network-volumes.ts'
import type { PodRules } from './pod-rules.ts'

interface Source {
  readonly field: string
  check(source: Loose, path: FieldPath, rules: PodRules): FieldError[]
  /** The path in the error if another source is set too. Default: the field. */
  readonly refusedAt?: string
  /** The path in the source's own validation errors. Default: the field. */
  readonly checkedAt?: string
}

/** In kube-apiserver's order. kube-apiserver also writes the paths `cephFS` and `downwarAPI` so. */
const sources: readonly Source[] = [
  { field: 'emptyDir', check: checkEmptyDirVolume },
  { field: 'hostPath', check: checkHostPathVolume },
  { field: 'gitRepo', check: checkGitRepoVolume },
  { field: 'gcePersistentDisk', check: checkGceVolume, checkedAt: 'persistentDisk' },
  { field: 'awsElasticBlockStore', check: checkAwsVolume },
  { field: 'secret', check: checkSecretVolume },
  { field: 'nfs', check: checkNfsVolume },
  { field: 'iscsi', check: checkIscsiVolume },
  { field: 'glusterfs', check: checkGlusterfsVolume },
  { field: 'flocker', check: checkFlockerVolume },
  { field: 'persistentVolumeClaim', check: checkClaimVolume },
  { field: 'rbd', check: checkRbdVolume },
  { field: 'cinder', check: checkCinderVolume },
  { field: 'cephfs', check: checkCephfsVolume, refusedAt: 'cephFS' },
  { field: 'quobyte', check: checkQuobyteVolume },
  { field: 'downwardAPI', check: checkDownwardVolume, refusedAt: 'downwarAPI' },
  { field: 'fc', check: checkFibreChannelVolume },
  { field: 'flexVolume', check: checkFlexVolume },
  { field: 'configMap', check: checkConfigMapVolume },
  { field: 'azureFile', check: checkAzureFileVolume },
  { field: 'vsphereVolume', check: checkVsphereVolume },
  { field: 'photonPersistentDisk', check: checkPhotonVolume },
  { field: 'portworxVolume', check: checkPortworxVolume },
  { field: 'azureDisk', check: checkAzureDiskVolume },
  { field: 'storageos', check: checkStorageOsVolume },
  { field: 'projected', check: checkProjectedVolume },
  { field: 'scaleIO', check: checkScaleIoVolume },
  { field: 'csi', check: checkCsiVolume },
  { field: 'ephemeral', check: checkEphemeralVolume },
  { field: 'image', check: checkImageVolume },
]

const needsReference = change('image volumes need a reference', { since: 37 })

/** Validates a volume of type image. */
function checkImageVolume(source: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const before: Loose[] = rules.old?.volumes ?? []
  const mayBeEmpty =
    !rules.has(needsReference) || before.some(({ image }) => image && !image.reference)
  return [
    ...(source.reference || mayBeEmpty ? [] : [required(path.child('reference'))]),
    ...checkOneOf(source.pullPolicy, ['Always', 'IfNotPresent', 'Never'], path.child('pullPolicy')),
  ]
}

/** Valid volumes by name. Mounts and devices may refer only to these. */
export type VolumesByName = ReadonlyMap<string, Loose>

/**
 * `meta` is the metadata of a pod. A template has none, so names of ephemeral volume claims are not
 * checked.
 */
export function checkVolumes(
  volumes: Loose[] | null | undefined,
  meta: ObjectMeta | undefined,
  path: FieldPath,
  rules: PodRules,
): { volumes: VolumesByName; errors: FieldError[] } {
  const valid = new Map<string, Loose>()
  const errors: FieldError[] = []
  const podName = meta?.name ?? ''
  const all = volumes ?? []
  const ownClaims = new Set<string>()
  if (podName !== '') {
    for (const volume of all) if (volume.ephemeral) ownClaims.add(`${podName}-${volume.name ?? ''}`)
  }
  all.forEach((volume, i) => {
    const at = path.index(i)
    const name: string = volume.name ?? ''
    const problems = checkSource(volume, at, podName, rules)
    if (name === '') problems.push(required(at.child('name')))
    else problems.push(...each(at.child('name'), name, dns1123Label(name)))
    if (valid.has(name)) problems.push(duplicate(at.child('name'), name))
    if (problems.length === 0) valid.set(name, volume)
    else errors.push(...problems)
    const claim = volume.persistentVolumeClaim?.claimName
    if (ownClaims.has(claim)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume'
      errors.push(invalid(at.child('persistentVolumeClaim', 'claimName'), claim, detail))
    }
  })
  return { volumes: valid, errors }
}

function checkSource(
  volume: Loose,
  path: FieldPath,
  podName: string,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  let count = 0
  for (const { field, check, refusedAt, checkedAt } of sources) {
    const source = volume[field]
    if (source === undefined || source === null) continue
    if (count > 0) {
      const detail = 'may not specify more than 1 volume type'
      errors.push(forbidden(path.child(refusedAt ?? field), detail))
    } else {
      errors.push(...check(source, path.child(checkedAt ?? field), rules))
      if (field === 'ephemeral') errors.push(...checkClaimName(podName, volume.name ?? '', path))
    }
    count++
    if (field === 'iscsi') errors.push(...checkPortalLength(source, volume.name ?? '', path))
  }
  if (count === 0) errors.push(required(path, 'must specify a volume type'))
  return errors
}

function checkPortalLength(iscsi: Loose, name: string, path: FieldPath): FieldError[] {
  if (typeof iscsi.initiatorName !== 'string') return []
  if (!longerThan(`${name}:${iscsi.targetPortal ?? ''}`, 64)) return []
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  return [invalid(path.child('name'), name, detail)]
}

/** The claim of an ephemeral volume has the name POD-VOLUME, which must be valid. */
function checkClaimName(podName: string, name: string, path: FieldPath): FieldError[] {
  if (podName === '' || name === '') return []
  const claim = `${podName}-${name}`
  return nameIsDnsSubdomain(claim, false).map((problem) =>
    invalid(path.child('name'), name, `PVC name ${goQuote(claim)}: ${problem}`),
  )
}
