/** The rules of PersistentVolumeClaim. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { persistentVolumeClaimBehaviour } from './behaviour.ts'
import { persistentVolumeClaimColumns } from './columns.ts'
import { olderVolumeColumns } from '#kinds/core/persistent-volume/shared-columns.ts'
import { persistentVolumeClaimDefaults } from './defaults.ts'

export const persistentVolumeClaim: KindRules = {
  behaviour: persistentVolumeClaimBehaviour,
  columns: persistentVolumeClaimColumns,
  olderColumns: olderVolumeColumns(persistentVolumeClaimColumns),
  defaults: persistentVolumeClaimDefaults,
}
