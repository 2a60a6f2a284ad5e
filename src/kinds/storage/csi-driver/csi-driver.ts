/** The rules of CSIDriver. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { csiDriverBehaviour } from './behaviour.ts'
import { csiDriverColumns } from './columns.ts'
import { csiDriverDefaults } from './defaults.ts'

export const csiDriver: KindRules = {
  behaviour: csiDriverBehaviour,
  finalizerNames: 'by-behaviour',
  columns: csiDriverColumns,
  olderColumns: [
    {
      before: change('tables of CSI drivers have columns of their own', { since: 18 }),
      without: 'everything',
    },
    {
      before: change(
        'tables of CSI drivers show storage capacity, token requests and republishing',
        { since: 21 },
      ),
      without: ['StorageCapacity', 'TokenRequests', 'RequiresRepublish'],
    },
  ],
  defaults: csiDriverDefaults,
}
