/** The rules of StorageClass. */
import { change } from '#api/releases/change.ts'
import { leaveOut } from '#kinds/columns-of-release.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { storageClassBehaviour } from './behaviour.ts'
import { markedStorageClassColumns, storageClassColumns } from './columns.ts'
import { storageClassDefaults } from './defaults.ts'

export const storageClass: KindRules = {
  behaviour: storageClassBehaviour,
  columns: storageClassColumns,
  olderColumns: [
    {
      before: change('tables of storage classes show reclaim policy, binding mode and expansion', {
        since: 17,
      }),
      instead: leaveOut(markedStorageClassColumns, [
        'ReclaimPolicy',
        'VolumeBindingMode',
        'AllowVolumeExpansion',
      ]),
    },
    {
      before: change('only a list of storage classes shows the default, and only one', {
        since: 37,
      }),
      instead: markedStorageClassColumns,
    },
  ],
  defaults: storageClassDefaults,
}
