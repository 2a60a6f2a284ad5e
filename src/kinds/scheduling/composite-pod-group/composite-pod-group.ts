/** The rules of CompositePodGroup. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { groupDefaults } from '#kinds/scheduling/group-defaults.ts'
import { compositePodGroupBehaviour } from './behaviour.ts'
import { compositePodGroupColumns } from './columns.ts'

export const compositePodGroup: KindRules = {
  behaviour: compositePodGroupBehaviour,
  columns: compositePodGroupColumns,
  defaults: groupDefaults,
}
