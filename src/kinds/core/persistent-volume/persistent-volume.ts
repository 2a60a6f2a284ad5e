/** The rules of PersistentVolume. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { persistentVolumeBehaviour } from './behaviour.ts'
import { persistentVolumeColumns } from './columns.ts'
import { olderVolumeColumns } from './shared-columns.ts'
import { persistentVolumeDefaults } from './defaults.ts'

export const persistentVolume: KindRules = {
  behaviour: persistentVolumeBehaviour,
  columns: persistentVolumeColumns,
  olderColumns: olderVolumeColumns(persistentVolumeColumns),
  defaults: persistentVolumeDefaults,
}
