/** Defaults of the volume sources that pods and persistent volumes share. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const iscsi: Defaulter = (value) => {
  value.iscsiInterface ||= 'default'
}

const rbd: Defaulter = (value) => {
  value.pool ||= 'rbd'
  value.user ||= 'admin'
  value.keyring ||= '/etc/ceph/keyring'
}

const scaleIo: Defaulter = (value) => {
  value.storageMode ||= 'ThinProvisioned'
  value.fsType ||= 'xfs'
}

const azureDisk: Defaulter = (value) => {
  value.cachingMode ??= 'ReadWrite'
  value.kind ??= 'Shared'
  value.fsType ??= 'ext4'
  value.readOnly ??= false
}

const core = (type: string): string => `io.k8s.api.core.v1.${type}`

export const volumeDefaults: Defaulters = {
  [core('AzureDiskVolumeSource')]: azureDisk,
  [core('HostPathVolumeSource')]: (value) => {
    value.type ??= ''
  },
  [core('ISCSIVolumeSource')]: iscsi,
  [core('ISCSIPersistentVolumeSource')]: iscsi,
  [core('RBDVolumeSource')]: rbd,
  [core('RBDPersistentVolumeSource')]: rbd,
  [core('ScaleIOVolumeSource')]: scaleIo,
  [core('ScaleIOPersistentVolumeSource')]: scaleIo,
}
