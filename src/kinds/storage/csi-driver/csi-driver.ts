/** The rules of CSIDriver. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { csiDriverBehaviour } from './behaviour.ts'
import { csiDriverColumns } from './columns.ts'
import { csiDriverDefaults } from './defaults.ts'

export const csiDriver: KindRules = {
  behaviour: csiDriverBehaviour,
  finalizerNames: 'by-behaviour',
  columns: csiDriverColumns,
  olderColumns: [
    { before: 18, without: 'everything' },
    { before: 21, without: ['StorageCapacity', 'TokenRequests', 'RequiresRepublish'] },
  ],
  defaults: csiDriverDefaults,
}
