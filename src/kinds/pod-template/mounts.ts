/** Validation of volume mounts and volume devices of containers. */
import { change } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  fieldNotFound,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import type { PodRules } from './pod-rules.ts'
import { checkDescendingPath, checkNoBacksteps } from './volume-paths.ts'
import type { VolumesByName } from './volumes.ts'

const propagations = ['Bidirectional', 'HostToContainer', 'None']

export function checkMounts(
  container: Loose,
  volumes: VolumesByName,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const devices: Loose[] = container.volumeDevices ?? []
  const deviceNames = new Set(devices.map((device) => device.name ?? ''))
  const devicePaths = new Set(pathsByName(devices, 'devicePath').values())
  const seen = new Set<string>()
  ;((container.volumeMounts ?? []) as Loose[]).forEach((mount, i) => {
    const at = path.index(i)
    const { name = '', mountPath = '', subPath = '', subPathExpr = '' } = mount
    if (name === '') errors.push(required(at.child('name')))
    if (!volumes.has(name)) errors.push(fieldNotFound(at.child('name'), name))
    if (mountPath === '') errors.push(required(at.child('mountPath')))
    if (seen.has(mountPath))
      errors.push(invalid(at.child('mountPath'), mountPath, 'must be unique'))
    seen.add(mountPath)
    if (deviceNames.has(name)) {
      errors.push(invalid(at.child('name'), name, 'must not already exist in volumeDevices'))
    }
    if (devicePaths.has(mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices'
      errors.push(invalid(at.child('mountPath'), mountPath, detail))
    }
    if (subPath !== '') errors.push(...checkDescendingPath(subPath, path.child('subPath')))
    if (subPathExpr !== '') {
      if (subPath !== '') {
        const detail = 'subPathExpr and subPath are mutually exclusive'
        errors.push(invalid(at.child('subPathExpr'), subPathExpr, detail))
      }
      errors.push(...checkDescendingPath(subPathExpr, path.child('subPathExpr')))
    }
    errors.push(
      ...checkPropagation(mount.mountPropagation, container, path.child('mountPropagation')),
      ...checkRecursiveReadOnly(mount, path.child('recursiveReadOnly')),
      ...checkBindOptions(mount, volumes, at.child('bindMountOptions')),
    )
  })
  return errors
}

function checkPropagation(
  mode: string | undefined,
  container: Loose,
  path: FieldPath,
): FieldError[] {
  if (mode === undefined || mode === null) return []
  const errors: FieldError[] = []
  if (!propagations.includes(mode)) errors.push(notSupported(path, mode, propagations))
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    const detail = 'Bidirectional mount propagation is available only to privileged containers'
    errors.push(forbidden(path, detail))
  }
  return errors
}

const recursions = ['Disabled', 'Enabled', 'IfPossible']

function checkRecursiveReadOnly(mount: Loose, path: FieldPath): FieldError[] {
  const mode: string | undefined = mount.recursiveReadOnly ?? undefined
  if (mode === undefined || mode === 'Disabled') return []
  if (!recursions.includes(mode)) return [notSupported(path, mode, recursions)]
  const errors: FieldError[] = []
  if (!mount.readOnly) errors.push(forbidden(path, 'may only be specified when readOnly is true'))
  if ((mount.mountPropagation ?? 'None') !== 'None') {
    const detail = 'may only be specified when mountPropagation is None or not specified'
    errors.push(forbidden(path, detail))
  }
  return errors
}

const bindOptions = ['nodev', 'noexec', 'nosuid']

function checkBindOptions(mount: Loose, volumes: VolumesByName, path: FieldPath): FieldError[] {
  const options: string[] = mount.bindMountOptions ?? []
  const errors: FieldError[] = []
  const seen = new Set<string>()
  options.forEach((option, i) => {
    if (!bindOptions.includes(option)) {
      errors.push(notSupported(path.index(i), option, bindOptions))
    }
    if (seen.has(option)) errors.push(duplicate(path.index(i), option))
    seen.add(option)
  })
  if (options.length > 0 && volumes.get(mount.name ?? '')?.image) {
    errors.push(invalid(path, options, 'bindMountOptions may not be used with image volumes'))
  }
  return errors
}

/** The last path each name has. */
const pathsByName = (items: Loose[], field: string): Map<string, string> =>
  new Map(items.map((item) => [item.name ?? '', item[field] ?? '']))

const ephemeralAreBlocks = change('ephemeral volumes can be block devices', { since: 23 })

export function checkDevices(
  container: Loose,
  volumes: VolumesByName,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const ephemeral = rules.has(ephemeralAreBlocks)
  const mounts = pathsByName(container.volumeMounts ?? [], 'mountPath')
  const mountPaths = new Set(mounts.values())
  const names = new Set<string>()
  const paths = new Set<string>()
  ;((container.volumeDevices ?? []) as Loose[]).forEach((device, i) => {
    const at = path.index(i)
    const { name = '', devicePath = '' } = device
    const volume = volumes.get(name)
    const add = (field: string, value: string, detail: string) =>
      errors.push(invalid(at.child(field), value, detail))
    if (name === '') errors.push(required(at.child('name')))
    if (names.has(name)) add('name', name, 'must be unique')
    if (volume === undefined) {
      errors.push(fieldNotFound(at.child('name'), name))
    } else if (!volume.persistentVolumeClaim && !(ephemeral && volume.ephemeral)) {
      const types = ephemeral ? 'PersistentVolumeClaim or Ephemeral' : 'PersistentVolumeClaim'
      add('name', name, `can only use volume source type of ${types} for block mode`)
    }
    if (devicePath === '') errors.push(required(at.child('devicePath')))
    if (paths.has(devicePath)) add('devicePath', devicePath, 'must be unique')
    if (devicePath !== '' && checkNoBacksteps(devicePath, at).length > 0) {
      add('devicePath', devicePath, "can not contain backsteps ('..')")
    } else {
      paths.add(devicePath)
    }
    if (mounts.has(name)) add('name', name, 'must not already exist in volumeMounts')
    if (mountPaths.has(devicePath)) {
      add('devicePath', devicePath, 'must not already exist as a path in volumeMounts')
    }
    if (name !== '') names.add(name)
  })
  return errors
}
