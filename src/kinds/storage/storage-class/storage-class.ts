/** The rules of StorageClass. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { storageClassBehaviour } from './behaviour.ts'
import { storageClassColumns } from './columns.ts'
import { storageClassDefaults } from './defaults.ts'

export const storageClass: KindRules = {
  behaviour: storageClassBehaviour,
  columns: storageClassColumns,
  olderColumns: [
    {
      before: change('tables of storage classes show reclaim policy, binding mode and expansion', {
        since: 17,
      }),
      without: ['ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion'],
    },
  ],
  defaults: storageClassDefaults,
}
