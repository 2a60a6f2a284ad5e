/** The rules of PriorityLevelConfiguration. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { priorityLevelConfigurationBehaviour } from './behaviour.ts'
import { priorityLevelConfigurationColumns } from './columns.ts'
import { priorityLevelConfigurationDefaults } from './defaults.ts'

export const priorityLevelConfiguration: KindRules = {
  behaviour: priorityLevelConfigurationBehaviour,
  columns: priorityLevelConfigurationColumns,
  defaults: priorityLevelConfigurationDefaults,
}
