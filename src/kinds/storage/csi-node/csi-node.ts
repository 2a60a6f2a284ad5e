/** The rules of CSINode. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { csiNodeBehaviour } from './behaviour.ts'
import { csiNodeColumns } from './columns.ts'

export const csiNode: KindRules = {
  behaviour: csiNodeBehaviour,
  columns: csiNodeColumns,
  olderColumns: [{ before: 18, without: 'everything' }],
}
