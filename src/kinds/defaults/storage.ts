/** Defaults of volumes, claims and what makes them. */
import type { Loose } from '#api/object-meta.ts'
import { iscsi, rbd, roundAmounts, scaleIo } from './core-pods.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

const persistentVolume: Defaulter = (value) => {
  const status: Loose = (value.status ??= {})
  const spec: Loose = (value.spec ??= {})
  status.phase ||= 'Pending'
  spec.persistentVolumeReclaimPolicy ||= 'Retain'
  spec.volumeMode ??= 'Filesystem'
}

const storageClass: Defaulter = (value) => {
  value.reclaimPolicy ??= 'Delete'
  value.volumeBindingMode ??= 'Immediate'
}

/** Fields came one by one, most of them behind a feature. */
const csiDriverSpec: Defaulter = (spec, { release, feature }) => {
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  if (feature('CSIStorageCapacity')) spec.storageCapacity ??= false
  if (feature('CSIVolumeFSGroupPolicy')) spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  if (!spec.volumeLifecycleModes?.length && feature('CSIInlineVolume') && release >= 16) {
    spec.volumeLifecycleModes = ['Persistent']
  }
  const republish = release >= 22 || (release >= 20 && feature('CSIServiceAccountToken'))
  if (republish) spec.requiresRepublish ??= false
}

const core = (type: string): string => `io.k8s.api.core.v1.${type}`

export const storageDefaults: Defaulters = {
  [core('PersistentVolume')]: persistentVolume,
  [core('PersistentVolumeSpec')]: (value) => roundAmounts(value.capacity),
  [core('PersistentVolumeClaim')]: (value) => {
    const status: Loose = (value.status ??= {})
    status.phase ||= 'Pending'
  },
  [core('PersistentVolumeClaimSpec')]: (value) => {
    value.volumeMode ??= 'Filesystem'
  },
  [core('PersistentVolumeClaimStatus')]: (value) => roundAmounts(value.capacity),
  [core('ISCSIPersistentVolumeSource')]: iscsi,
  [core('RBDPersistentVolumeSource')]: rbd,
  [core('ScaleIOPersistentVolumeSource')]: scaleIo,
  'io.k8s.api.storage.v1.StorageClass': storageClass,
  'io.k8s.api.storage.v1beta1.StorageClass': storageClass,
  'io.k8s.api.storage.v1.CSIDriverSpec': csiDriverSpec,
  'io.k8s.api.storage.v1beta1.CSIDriverSpec': csiDriverSpec,
}
