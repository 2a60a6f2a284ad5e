/** The rules of PersistentVolume. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { persistentVolumeBehaviour } from './behaviour.ts'
import { persistentVolumeColumns, persistentVolumeColumnsBefore22 } from './columns.ts'
import { persistentVolumeDefaults } from './defaults.ts'

export const persistentVolume: KindRules = {
  behaviour: persistentVolumeBehaviour,
  columns: persistentVolumeColumns,
  olderColumns: [
    {
      before: change('tables of volumes show the access mode ReadWriteOncePod', { since: 22 }),
      instead: persistentVolumeColumnsBefore22,
    },
  ],
  defaults: persistentVolumeDefaults,
}
