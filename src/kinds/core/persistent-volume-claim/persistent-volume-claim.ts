/** The rules of PersistentVolumeClaim. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { persistentVolumeClaimBehaviour } from './behaviour.ts'
import { persistentVolumeClaimColumns, persistentVolumeClaimColumnsBefore22 } from './columns.ts'
import { persistentVolumeClaimDefaults } from './defaults.ts'

export const persistentVolumeClaim: KindRules = {
  behaviour: persistentVolumeClaimBehaviour,
  columns: persistentVolumeClaimColumns,
  olderColumns: [
    {
      before: change('tables of claims show the access mode ReadWriteOncePod', { since: 22 }),
      instead: persistentVolumeClaimColumnsBefore22,
    },
  ],
  defaults: persistentVolumeClaimDefaults,
}
