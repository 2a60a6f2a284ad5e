/**
 * Volumes of network file systems and storage products; persistent volumes of the same kinds use
 * these rules too.
 */
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1123Label, dns1123Subdomain, longerThan, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { signOfQuantity } from '#api/quantity.ts'
import { each, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { change } from '#api/releases/change.ts'
import type { PodRules } from './pod-rules.ts'
import { checkDescendingPath, checkNoBacksteps } from './volume-paths.ts'

type Check = (source: Loose, path: FieldPath) => FieldError[]

/** Requires these fields, in this order. */
const requires =
  (...fields: string[]): Check =>
  (source, path) =>
    fields.filter((field) => isEmpty(source[field])).map((field) => required(path.child(field)))

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

export const checkClaimVolume = requires('claimName')
export const checkGlusterfsVolume = requires('endpoints', 'path')
export const checkRbdVolume = requires('monitors', 'image')
export const checkCephfsVolume = requires('monitors')
export const checkAzureFileVolume = requires('secretName', 'shareName')
export const checkVsphereVolume = requires('volumePath')
export const checkPhotonVolume = requires('pdID')
export const checkPortworxVolume = requires('volumeID')
export const checkScaleIoVolume = requires('gateway', 'system', 'volumeName')

const directoryModeMax = 0o1777

export const checkEmptyDirVolume: Check = (source, path) => {
  const { sizeLimit: limit, mode } = source
  const errors: FieldError[] = []
  if (limit !== undefined && limit !== null && signOfQuantity(limit) < 0) {
    const detail = 'SizeLimit field must be a valid resource quantity'
    errors.push(forbidden(path.child('sizeLimit'), detail))
  }
  if (typeof mode === 'number' && (mode < 0 || mode > directoryModeMax)) {
    const detail = 'must be a number between 0 and 01777 (octal), both inclusive'
    errors.push(invalid(path.child('mode'), mode, detail))
  }
  return errors
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

export const checkHostPathVolume: Check = (source, path) => {
  if (!source.path) return [required(path.child('path'))]
  const errors = checkNoBacksteps(source.path, path.child('path'))
  if (typeof source.type === 'string' && !hostPathTypes.includes(source.type)) {
    errors.push(notSupported(path.child('type'), source.type, hostPathTypes))
  }
  return errors
}

export const checkGitRepoVolume: Check = (source, path) => [
  ...(source.repository ? [] : [required(path.child('repository'))]),
  ...checkDescendingPath(source.directory ?? '', path.child('directory')),
]

export const checkNfsVolume: Check = (source, path) => {
  const errors = requires('server', 'path')(source, path)
  const target: string = source.path ?? ''
  if (!target.startsWith('/')) {
    errors.push(invalid(path.child('path'), target, 'must be an absolute path'))
  }
  return errors
}

const pairsDetail = 'must be a host:port pair or multiple pairs separated by commas'

export const checkQuobyteVolume: Check = (source, path) => {
  const errors: FieldError[] = []
  const { registry = '', tenant = '', volume = '' } = source
  if (registry === '') {
    errors.push(required(path.child('registry'), pairsDetail))
  } else if (longerThan(tenant, 64)) {
    const detail = 'must be a UUID and may not exceed a length of 64 characters'
    errors.push(required(path.child('tenant'), detail))
  } else {
    // Each invalid pair is reported with all of them: one text for all.
    let wrong: FieldError | undefined
    for (const pair of registry.split(',')) {
      if (isHostPort(pair)) continue
      wrong ??= invalid(path.child('registry'), registry, pairsDetail)
      errors.push(wrong)
    }
  }
  if (volume === '') errors.push(required(path.child('volume')))
  return errors
}

/** `host:port` as net.SplitHostPort takes it: one colon outside brackets, the port may be empty. */
const isHostPort = (text: string): boolean => /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(text)

export const checkFlockerVolume: Check = (source, path) => {
  const errors: FieldError[] = []
  const { datasetName = '', datasetUUID = '' } = source
  if (datasetName === '' && datasetUUID === '') {
    errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  }
  if (datasetName !== '' && datasetUUID !== '') {
    const detail = 'datasetName and datasetUUID can not be specified simultaneously'
    errors.push(invalid(path, 'resource', detail))
  }
  if (datasetName.includes('/')) {
    errors.push(invalid(path.child('datasetName'), datasetName, "must not contain '/'"))
  }
  return errors
}

export const checkCinderVolume: Check = (source, path) => [
  ...(source.volumeID ? [] : [required(path.child('volumeID'))]),
  ...checkSecretName(source.secretRef, path.child('secretRef')),
]

/** A reference to a secret must have a name. */
const checkSecretName = (reference: Loose | undefined, path: FieldPath): FieldError[] =>
  reference && !reference.name ? [required(path.child('name'))] : []

export const checkFlexVolume: Check = (source, path) => {
  const errors = requires('driver')(source, path)
  for (const key of sortedKeys(source.options)) {
    const namespace = `.${(key.split('/')[0] as string).toLowerCase()}`
    if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io')) {
      const detail = 'kubernetes.io and k8s.io namespaces are reserved'
      errors.push(invalid(path.child('options').key(key), key, detail))
    }
  }
  return errors
}

export const checkStorageOsVolume: Check = (source, path) => {
  const errors: FieldError[] = []
  const { volumeName = '', volumeNamespace = '' } = source
  if (volumeName === '') errors.push(required(path.child('volumeName')))
  else errors.push(...each(path.child('volumeName'), volumeName, dns1123Label(volumeName)))
  if (volumeNamespace !== '') {
    errors.push(
      ...each(path.child('volumeNamespace'), volumeNamespace, dns1123Label(volumeNamespace)),
    )
  }
  errors.push(...checkSecretName(source.secretRef, path.child('secretRef')))
  return errors
}

const reportsMissingNamesOnce = change('a missing name of a CSI driver is one error', {
  since: 35,
})

export function checkCsiDriverName(name: string, path: FieldPath): FieldError[] {
  const problems = each(path, name, dns1123Subdomain(name.toLowerCase()))
  if (name === '') {
    const older = problems.map((error) => ({ ...error, before: reportsMissingNamesOnce }))
    return [required(path), ...older]
  }
  return [...(longerThan(name, 63) ? [tooLong(path, name, 63)] : []), ...problems]
}

const missingDriverIsEnough = change('a missing driver of a CSI volume has one error', {
  since: 35,
})
const secretHasNoSpace = change('errors of secrets of CSI volumes have no space in their path', {
  since: 24,
})

/** The path of an error of the secret's name lacks the secret, as in kube-apiserver. */
export function checkCsiVolume(source: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const at = path.child('driver')
  const isMissing = !source.driver && rules.has(missingDriverIsEnough)
  const errors = isMissing ? [required(at)] : checkCsiDriverName(source.driver ?? '', at)
  const secret = source.nodePublishSecretRef
  if (!secret) return errors
  const name: string = secret.name ?? ''
  const field = rules.has(secretHasNoSpace) ? 'nodePublishSecretRef' : 'nodePublishSecretRef '
  if (name === '') errors.push(required(path.child(field, 'name')))
  else errors.push(...each(path.child('name'), name, nameIsDnsSubdomain(name, false)))
  return errors
}
