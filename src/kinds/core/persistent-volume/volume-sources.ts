/** Validation of the source of a persistent volume. Each volume has exactly one source. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { nameIsDnsLabel } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkNoBacksteps,
  each,
} from '#kinds/all-kinds/checks.ts'
import {
  checkAwsVolume,
  checkAzureDiskVolume,
  checkFibreChannelVolume,
  checkGceVolume,
  checkLun,
  initiatorProblem,
} from '#kinds/pod-template/block-volumes.ts'
import {
  checkAzureFileVolume,
  checkCephfsVolume,
  checkCsiDriverName,
  checkFlexVolume,
  checkFlockerVolume,
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
} from '#kinds/pod-template/network-volumes.ts'

const secretsAreNamed = change('secrets of CSI volumes are named like objects', { since: 25 })
const pathOfSecretIsExact = change('errors of nodePublishSecretRef name it without a space', {
  since: 24,
})

export interface SourceRules {
  readonly secretsAreNamed: boolean
  readonly pathOfSecretIsExact: boolean
}

export const sourceRules = (release: number): SourceRules => ({
  secretsAreNamed: releaseOf(release).has(secretsAreNamed),
  pathOfSecretIsExact: releaseOf(release).has(pathOfSecretIsExact),
})

type Check = (
  source: Loose,
  path: FieldPath,
  volumeName: string,
  rules: SourceRules,
) => FieldError[]

interface Source {
  readonly field: string
  readonly check: Check
  /**
   * kube-apiserver's path if it differs from the field name: in validation errors, and if the
   * source is rejected because another one is set.
   */
  readonly checkedAt?: string
  readonly refusedAt?: string
}

/** In kube-apiserver's order: the first source present is validated, further ones are rejected. */
const sources: readonly Source[] = [
  { field: 'hostPath', check: checkHostPathVolume },
  { field: 'gcePersistentDisk', check: checkGceVolume, checkedAt: 'persistentDisk' },
  { field: 'awsElasticBlockStore', check: checkAwsVolume },
  { field: 'glusterfs', check: checkGlusterfs },
  { field: 'flocker', check: checkFlockerVolume },
  { field: 'nfs', check: checkNfsVolume },
  { field: 'rbd', check: checkRbdVolume },
  { field: 'quobyte', check: checkQuobyteVolume },
  { field: 'cephfs', check: checkCephfsVolume, refusedAt: 'cephFS' },
  { field: 'iscsi', check: checkIscsi },
  { field: 'cinder', check: checkCinder },
  { field: 'fc', check: checkFibreChannelVolume },
  { field: 'flexVolume', check: checkFlexVolume },
  { field: 'azureFile', check: checkAzureFile },
  { field: 'vsphereVolume', check: checkVsphereVolume },
  { field: 'photonPersistentDisk', check: checkPhotonVolume },
  { field: 'portworxVolume', check: checkPortworxVolume },
  { field: 'azureDisk', check: checkAzureDiskVolume },
  { field: 'scaleIO', check: checkScaleIoVolume },
  { field: 'local', check: checkLocal },
  { field: 'storageos', check: checkStorageOs },
  { field: 'csi', check: checkCsi },
]

export const sourceFields: readonly string[] = sources.map(({ field }) => field)

export function checkVolumeSources(
  spec: Loose,
  path: FieldPath,
  volumeName: string,
  rules: SourceRules,
): FieldError[] {
  const errors: FieldError[] = []
  let count = 0
  for (const { field, check, checkedAt = field, refusedAt = field } of sources) {
    if (!spec[field]) continue
    if (count > 0 && field !== 'flexVolume') {
      errors.push(forbidden(path.child(refusedAt), 'may not specify more than 1 volume type'))
      continue
    }
    count++
    errors.push(...check(spec[field], path.child(checkedAt), volumeName, rules))
    if (field === 'local' && !spec.nodeAffinity) {
      const detail = 'Local volume requires node affinity'
      errors.push(required(path.child('nodeAffinity'), detail))
    }
  }
  if (count === 0) errors.push(required(path, 'must specify a volume type'))
  return errors
}

function checkGlusterfs(source: Loose, path: FieldPath): FieldError[] {
  const errors = checkGlusterfsVolume(source, path)
  const namespace: string | undefined = source.endpointsNamespace
  if (namespace === undefined) return errors
  const at = path.child('endpointsNamespace')
  const empty = 'if the endpointnamespace is set, it must be a valid namespace name'
  const problems = namespace === '' ? [empty] : nameIsDnsLabel(namespace, false)
  return [...errors, ...each(at, namespace, problems)]
}

function checkIscsi(source: Loose, path: FieldPath, volumeName: string): FieldError[] {
  const { targetPortal = '', iqn = '', initiatorName } = source
  const errors: FieldError[] = []
  if (targetPortal === '') errors.push(required(path.child('targetPortal')))
  if (initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > 64) {
    const detail =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
    errors.push(invalid(path.child('targetportal'), targetPortal, detail))
  }
  const format = 'must be valid format'
  if (iqn === '') errors.push(required(path.child('iqn')))
  else if (initiatorProblem(iqn)) errors.push(invalid(path.child('iqn'), iqn, format))
  errors.push(...checkLun(source.lun ?? 0, path.child('lun')))
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    errors.push(required(path.child('secretRef')))
  }
  if (source.secretRef && !source.secretRef.name) {
    errors.push(required(path.child('secretRef', 'name')))
  }
  if (initiatorName !== undefined && initiatorProblem(initiatorName)) {
    errors.push(invalid(path.child('initiatorname'), initiatorName, format))
  }
  return errors
}

/** A reference to a secret anywhere: both its name and its namespace are needed. */
function checkSecretReference(secret: Loose | undefined, path: FieldPath): FieldError[] {
  if (!secret) return []
  return ['name', 'namespace'].filter((field) => !secret[field]).map((f) => required(path.child(f)))
}

function checkCinder(source: Loose, path: FieldPath): FieldError[] {
  const errors = source.volumeID ? [] : [required(path.child('volumeID'))]
  return [...errors, ...checkSecretReference(source.secretRef, path.child('secretRef'))]
}

function checkAzureFile(source: Loose, path: FieldPath): FieldError[] {
  const errors = checkAzureFileVolume(source, path)
  return source.secretNamespace === ''
    ? [...errors, required(path.child('secretNamespace'))]
    : errors
}

function checkLocal(source: Loose, path: FieldPath): FieldError[] {
  const at = path.child('path')
  return source.path ? checkNoBacksteps(source.path, at) : [required(at)]
}

function checkStorageOs(source: Loose, path: FieldPath): FieldError[] {
  const { secretRef, ...rest } = source
  return [
    ...checkStorageOsVolume(rest, path),
    ...checkSecretReference(secretRef, path.child('secretRef')),
  ]
}

function checkCsi(
  source: Loose,
  path: FieldPath,
  _volumeName: string,
  rules: SourceRules,
): FieldError[] {
  const errors = checkCsiDriverName(source.driver ?? '', path.child('driver'))
  if (!source.volumeHandle) errors.push(required(path.child('volumeHandle')))
  const check = rules.secretsAreNamed ? checkNamedSecret : checkOlderSecret
  const secrets: [field: string, shown: string][] = [
    ['controllerPublishSecretRef', 'controllerPublishSecretRef'],
    ['controllerExpandSecretRef', 'controllerExpandSecretRef'],
    ['nodePublishSecretRef', `nodePublishSecretRef${rules.pathOfSecretIsExact ? '' : ' '}`],
  ]
  if (rules.secretsAreNamed) secrets.push(['nodeExpandSecretRef', 'nodeExpandSecretRef'])
  return [
    ...errors,
    ...secrets.flatMap(([field, shown]) =>
      source[field] ? check(source[field], path, shown) : [],
    ),
  ]
}

function checkNamedSecret(secret: Loose, path: FieldPath, shown: string): FieldError[] {
  const check = (part: string, rule: typeof checkDns1123Label) =>
    secret[part] ? rule(secret[part], path.child(shown, part)) : [required(path.child(shown, part))]
  return [...check('name', checkDns1123Subdomain), ...check('namespace', checkDns1123Label)]
}

/** If the name is present, the error path lacks the field of the reference. */
const checkOlderSecret = (secret: Loose, path: FieldPath, shown: string): FieldError[] =>
  ['name', 'namespace'].flatMap((part) =>
    secret[part]
      ? checkDns1123Label(secret[part], path.child(part))
      : [required(path.child(shown, part))],
  )
