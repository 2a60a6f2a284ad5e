/** Defaults of PersistentVolume, and of its spec inside a VolumeAttachment. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { roundAmounts } from '#kinds/all-kinds/round-amounts.ts'
import { volumeDefaults } from '#kinds/pod-template/volume-defaults.ts'

const persistentVolume: Defaulter = (value) => {
  const status: Loose = (value.status ??= {})
  const spec: Loose = (value.spec ??= {})
  status.phase ||= 'Pending'
  spec.persistentVolumeReclaimPolicy ||= 'Retain'
  spec.volumeMode ??= 'Filesystem'
}

const core = (type: string): string => `io.k8s.api.core.v1.${type}`

export const persistentVolumeDefaults: Defaulters = {
  ...volumeDefaults,
  [core('PersistentVolume')]: persistentVolume,
  [core('PersistentVolumeSpec')]: (value) => roundAmounts(value.capacity),
}
