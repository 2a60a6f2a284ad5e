/** Volumes on disks and block devices: iSCSI, fibre channel, and the disks of clouds. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { rangeProblem } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'

const initiatorForms: Readonly<Record<string, (name: string) => boolean>> = {
  iqn: endsQualified,
  eui: (name) => /^eui.[0-9A-Za-z]{16}$/.test(name),
  naa: (name) => /^naa.[0-9A-Za-z]{32}$/.test(name),
}

/**
 * Whether a name ends like `iqn.2001-04.com.example:disk`, with any prefix. The text is split
 * instead of searched, because a regular expression could take quadratic time.
 */
function endsQualified(name: string): boolean {
  const unbroken = name.split(/[,;*&$|\t\n\f\r ]/).at(-1) as string
  // The last part follows the final colon, so a trailing colon needs more text.
  const parts = unbroken.replace(/:$/, '').split(':')
  return parts
    .slice(0, -1)
    .some((part) => /iqn\.\d{4}-\d{2}\../.test(part.split(/[^0-9A-Za-z.-]/).at(-1) as string))
}

/** The error in the qualified name of an iSCSI initiator or target. */
export function initiatorProblem(name: string): string | undefined {
  const form = initiatorForms[name.slice(0, 3)]
  if (form === undefined) return 'must be valid format starting with iqn, eui, or naa'
  return form(name) ? undefined : 'must be valid format'
}

export const checkLun = (lun: number, path: FieldPath): FieldError[] =>
  lun < 0 || lun > 255 ? [invalid(path, lun, rangeProblem(0, 255))] : []

export function checkIscsiVolume(source: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!source.targetPortal) errors.push(required(path.child('targetPortal')))
  const iqn: string = source.iqn ?? ''
  if (iqn === '') {
    errors.push(required(path.child('iqn')))
  } else {
    const problem = initiatorProblem(iqn)
    if (problem !== undefined) errors.push(invalid(path.child('iqn'), iqn, problem))
  }
  errors.push(...checkLun(source.lun ?? 0, path.child('lun')))
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    errors.push(required(path.child('secretRef')))
  }
  if (typeof source.initiatorName === 'string') {
    const problem = initiatorProblem(source.initiatorName)
    if (problem !== undefined) {
      errors.push(invalid(path.child('initiatorname'), source.initiatorName, problem))
    }
  }
  return errors
}

export function checkFibreChannelVolume(source: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const targets: string[] = source.targetWWNs ?? []
  const ids: string[] = source.wwids ?? []
  const at = path.child('targetWWNs')
  if (targets.length === 0 && ids.length === 0) {
    errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (targets.length > 0 && ids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously'
    errors.push(invalid(at, asGo(goStrings(targets)), detail))
  }
  if (targets.length > 0) {
    const lun = source.lun ?? undefined
    if (lun === undefined) {
      errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'))
    } else {
      errors.push(...checkLun(lun, path.child('lun')))
    }
  }
  return errors
}

const checkPartition = (partition: number, path: FieldPath): FieldError[] =>
  partition < 0 || partition > 255 ? [invalid(path, partition, rangeProblem(1, 255))] : []

export const checkGceVolume = (source: Loose, path: FieldPath): FieldError[] => [
  ...(source.pdName ? [] : [required(path.child('pdName'))]),
  ...checkPartition(source.partition ?? 0, path.child('partition')),
]

export const checkAwsVolume = (source: Loose, path: FieldPath): FieldError[] => [
  ...(source.volumeID ? [] : [required(path.child('volumeID'))]),
  ...checkPartition(source.partition ?? 0, path.child('partition')),
]

const azureCachingModes = ['None', 'ReadOnly', 'ReadWrite']
const azureKinds = ['Dedicated', 'Managed', 'Shared']
const managedDisk =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

export function checkAzureDiskVolume(source: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { diskName = '', diskURI = '', cachingMode, kind } = source
  if (diskName === '') errors.push(required(path.child('diskName')))
  if (diskURI === '') errors.push(required(path.child('diskURI')))
  if (typeof cachingMode === 'string' && !azureCachingModes.includes(cachingMode)) {
    errors.push(notSupported(path.child('cachingMode'), cachingMode, azureCachingModes))
  }
  if (typeof kind !== 'string') return errors
  if (!azureKinds.includes(kind)) errors.push(notSupported(path.child('kind'), kind, azureKinds))
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) {
    errors.push(notSupported(path.child('diskURI'), diskURI, [managedDisk]))
  }
  if (kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(notSupported(path.child('diskURI'), diskURI, [blobDisk]))
  }
  return errors
}
