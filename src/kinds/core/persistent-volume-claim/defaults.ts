/** Defaults of PersistentVolumeClaim and of claim templates. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { roundAmounts } from '#kinds/all-kinds/round-amounts.ts'

const core = (type: string): string => `io.k8s.api.core.v1.${type}`

export const persistentVolumeClaimDefaults: Defaulters = {
  [core('PersistentVolumeClaim')]: (value) => {
    const status: Loose = (value.status ??= {})
    status.phase ||= 'Pending'
  },
  [core('PersistentVolumeClaimSpec')]: (value) => {
    value.volumeMode ??= 'Filesystem'
  },
  [core('PersistentVolumeClaimStatus')]: (value) => roundAmounts(value.capacity),
  [core('ResourceRequirements')]: (value) => {
    roundAmounts(value.limits)
    roundAmounts(value.requests)
  },
}
