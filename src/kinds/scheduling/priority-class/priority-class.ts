/** The rules of PriorityClass. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { priorityClassBehaviour } from './behaviour.ts'
import { priorityClassColumns } from './columns.ts'
import { priorityClassDefaults } from './defaults.ts'

export const priorityClass: KindRules = {
  behaviour: priorityClassBehaviour,
  columns: priorityClassColumns,
  defaults: priorityClassDefaults,
}
