/** The rules of CSINode. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { csiNodeBehaviour } from './behaviour.ts'
import { csiNodeColumns } from './columns.ts'

export const csiNode: KindRules = {
  behaviour: csiNodeBehaviour,
  columns: csiNodeColumns,
  olderColumns: [
    { before: change('tables of CSI nodes count drivers', { since: 18 }), without: 'everything' },
  ],
}
